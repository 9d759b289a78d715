//! Files that a run writes: beside their place first, moved there when they are complete, so that
//! nobody ever reads half of one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many names are tried for the file beside.
const TRIES: u32 = 100;

/// Gives a file these bytes; folders that are missing are made. What is there and no plain file (a
/// pipe, a device) is written to as it is.
///
/// # Errors
/// When a folder or file can't be made, written or moved; the file is then what it was.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::create_dir_all(folder.unwrap_or(Path::new(".")))?;
    // A link is kept, and what it leads to is replaced.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&place) {
        Ok(found) if !found.is_file() => {
            return fs::OpenOptions::new().write(true).open(&place)?.write_all(bytes);
        }
        Ok(found) if found.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
        }
        _ => {}
    }
    let (beside, mut file) = beside(&place)?;
    let written = file.write_all(bytes).and_then(|()| {
        if let Ok(found) = fs::metadata(&place) {
            fs::set_permissions(&beside, found.permissions())?;
        }
        fs::rename(&beside, &place)
    });
    if written.is_err() {
        // The error that matters is the first.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A new file in the folder of another.
fn beside(place: &Path) -> io::Result<(PathBuf, fs::File)> {
    let name = place.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let name = name.to_string_lossy();
    for number in 0..TRIES {
        let id = std::process::id();
        let path = place.with_file_name(format!(".{name}.{id}-{number}"));
        match fs::File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name is free beside it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_or_replaced_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/c.json");
        for bytes in [b"1".as_slice(), b"22"] {
            replace(&path, bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(replace(folder.path(), b"").is_err());
        assert!(replace(&path.join("d"), b"").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"22");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_a_device() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "1").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, b"2").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert!(link.is_symlink());
        replace(Path::new("/dev/null"), b"3").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
