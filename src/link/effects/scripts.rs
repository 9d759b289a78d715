//! The bodies of embedded scripts: one for each place that a text is written.

use std::collections::BTreeMap;

use super::script::Source;
use super::{Draft, facts};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, Effect, EffectKind};
use crate::ir::index::ItemId;
use crate::ir::value::{Literal, Text, ValueId, ValueKind};
use crate::lang::lua::{looks_like_script, lower_embedded};
use crate::link::Program;
use crate::source::{FileId, Language, Span};

/// Where a text begins, and the text: one script.
type Place = (Span, String);

/// Scripts that have a body.
pub(super) struct Registry {
    by_place: BTreeMap<Place, BodyId>,
    /// The body of each script file.
    files: BTreeMap<FileId, BodyId>,
    /// Functions of function libraries, by name.
    functions: BTreeMap<String, Vec<BodyId>>,
}

impl Registry {
    /// The scripts that are files of their own.
    pub(super) fn of(program: &Program) -> Self {
        let mut registry =
            Self { by_place: BTreeMap::new(), files: BTreeMap::new(), functions: BTreeMap::new() };
        for body in &program.bodies {
            let lua =
                program.tree.file(body.file).is_some_and(|file| file.language == Language::Lua);
            if !lua || body.index.0 != 0 || body.body.kind != BodyKind::Script {
                continue;
            }
            registry.files.entry(body.file).or_insert(body.id);
            if let Some(ItemId::Function(index)) = body.item
                && let Some(file) = program.index(body.file)
                && let Some(function) = file.functions.get(index as usize)
            {
                registry.functions.entry(function.name.clone()).or_default().push(body.id);
            }
        }
        registry
    }

    /// A draft's effect, its script texts lowered.
    pub(super) fn settle(&mut self, program: &mut Program, draft: Draft) -> Effect {
        let mut effect = draft.effect;
        if let EffectKind::Script(call) = &mut effect.kind {
            for source in draft.texts {
                let bodies = match source {
                    Source::Text(text) => self.body_of(program, &text).into_iter().collect(),
                    Source::Function(name) => {
                        self.functions.get(&name).cloned().unwrap_or_default()
                    }
                };
                call.scripts.extend(bodies);
            }
            call.scripts.sort_unstable();
            call.scripts.dedup();
        }
        effect
    }

    /// The body of a text: the file's own when the text is a file's, else a new one.
    fn body_of(&mut self, program: &mut Program, text: &Text) -> Option<BodyId> {
        let (_, first) = text.runs.first()?;
        if let Some(file) = program.tree.file(first.file)
            && file.language == Language::Lua
            && file.text == text.content
            && let Some(body) = self.files.get(&first.file)
        {
            return Some(*body);
        }
        let place = (*first, text.content.clone());
        if let Some(known) = self.by_place.get(&place) {
            return Some(*known);
        }
        let base = program.add_bodies(first.file, None, lower_embedded(text))?;
        self.by_place.insert(place, base);
        Some(base)
    }

    /// Scripts that stand in a string and that no call was found to run.
    pub(super) fn add_loose(&mut self, program: &mut Program) {
        let mut loose: Vec<Text> = Vec::new();
        for body in &program.bodies {
            if program.in_script(body.id) {
                continue;
            }
            for (index, value) in body.body.values.iter().enumerate() {
                let id = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
                match &value.kind {
                    ValueKind::Literal(Literal::Text(text)) if looks_like_script(&text.content) => {
                        loose.push(text.clone());
                    }
                    ValueKind::Template(_) => {
                        let texts = facts::texts(program, body.id, id);
                        loose.extend(
                            texts.into_iter().filter(|text| looks_like_script(&text.content)),
                        );
                    }
                    _ => {}
                }
            }
        }
        for text in loose {
            // A text that is part of a known script is that script's.
            let known = text.runs.first().is_some_and(|(_, first)| {
                self.by_place.keys().any(|(place, _)| place.covers(*first))
            });
            if !known {
                let _ = self.body_of(program, &text);
            }
        }
    }
}
