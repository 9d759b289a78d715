//! A sign of life on long runs: a spinner on the error stream when that is a terminal and the run
//! lasts more than a second. In a pipe nothing is printed.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(100);

/// The sign of life of one run.
pub struct Progress {
    read: Arc<AtomicU64>,
    stages: Option<mpsc::Sender<&'static str>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts waiting for the run to get long.
    pub fn start() -> Self {
        let read = Arc::new(AtomicU64::new(0));
        let mut progress = Self { read: Arc::clone(&read), stages: None, thread: None };
        if std::io::stderr().is_terminal() {
            let (sender, receiver) = mpsc::channel();
            progress.stages = Some(sender);
            let spin = move || spin(&receiver, &read);
            progress.thread = thread::Builder::new().spawn(spin).ok();
        }
        progress
    }

    /// One more file was read.
    pub fn advance(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    /// What the run does now.
    pub fn say(&self, stage: &'static str) {
        if let Some(stages) = &self.stages {
            // The thread may be gone: then nobody looks.
            let _ = stages.send(stage);
        }
    }

    /// Clears the line.
    pub fn finish(mut self) {
        self.stages = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn spin(stages: &mpsc::Receiver<&'static str>, read: &AtomicU64) {
    let mut stage = "reading";
    let mut wait = PATIENCE;
    let mut bar: Option<ProgressBar> = None;
    loop {
        match stages.recv_timeout(wait) {
            Ok(next) => stage = next,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                wait = TICK;
                let bar = bar.get_or_insert_with(|| {
                    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                });
                bar.set_message(format!("{stage}: {} files", read.load(Ordering::Relaxed)));
                bar.tick();
            }
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
}
