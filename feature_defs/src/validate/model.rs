//! Models: a service whose features are numbers, and an output with a name of its own in answers.

use indexmap::IndexMap;

use crate::fingerprint::Fingerprint;
use crate::model::Model;
use crate::name::Name;
use crate::parse::members::Typed;
use crate::parse::objects::{Declared, DeclaredModel, Section};
use crate::suggestion::accepted;
use crate::validate::service::Services;
use crate::validate::{Validator, fingerprint};

/// What an answer says of each result beside the score.
const TAKEN: [&str; 4] = ["degraded", "features", "states", "defaulted"];

impl Validator<'_> {
    /// Checks all models; gives those without problems.
    pub(super) fn models(
        &mut self,
        declared: Section<DeclaredModel>,
        services: &Services,
    ) -> IndexMap<Name, Model> {
        let mut models = IndexMap::new();
        for (name, declared) in declared {
            let model = self.model(&name, declared, services);
            models.extend(model.map(|model| (name, model)));
        }
        models
    }

    fn model(
        &mut self,
        name: &Name,
        declared: Declared<DeclaredModel>,
        services: &Services,
    ) -> Option<Model> {
        let (about, declared) = (declared.about.whole(), declared.object);
        let output = &declared.output;
        if TAKEN.contains(&output.value.as_str()) {
            let message = format!(
                "the output name `{}` is taken by a part of each answer",
                output.value
            );
            self.refuse(&output.span, message, "give the output another name");
        }
        let text = declared.service?;
        let Some(service) = services.get(text.text.as_str()) else {
            if !self.unread.may_declare(&text.text) {
                let names: Vec<&str> = services.keys().map(Name::as_str).collect();
                let mut whole = services
                    .values()
                    .filter_map(|service| service.whole.as_ref());
                let of_alias = whole.find(|service| {
                    let mut aliases = service.aliases.iter();
                    aliases.any(|alias| alias.as_str() == text.text)
                });
                let help = match of_alias {
                    Some(service) => format!("it is an alias: write `{}`", service.name),
                    None => accepted(&text.text, &names),
                };
                self.refuse(&text.span, format!("unknown service `{}`", text.text), help);
            }
            return None;
        };
        let unread = service.features.items.iter().filter_map(|feature| {
            let data_type = feature.data_type().filter(|t| !t.is_model_input())?;
            Some(format!("`{}` is {data_type}", feature.reference))
        });
        let unread: Vec<String> = unread.collect();
        if !unread.is_empty() {
            let message = format!(
                "the service `{}` has features that a model cannot read: {}",
                text.text,
                unread.join(", ")
            );
            let help = "a model reads numbers: compute one from each in a request view or in SQL, and list that in the service instead";
            self.refuse(&text.span, message, help);
        }
        let service = service.whole.as_ref()?;
        let mut model = Model {
            name: name.clone(),
            about,
            service: service.name.clone(),
            output: declared.output.value,
            transform: declared.transform,
            fingerprint: Fingerprint::of([""]),
        };
        model.fingerprint = fingerprint::model(&model, service);
        Some(model)
    }
}
