//! What was meant by words on the command line that no verb has.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use crate::listen;

/// Verbs as other programs call them, with ours.
const VERBS: [(&[&str], &str); 10] = [
    (&["rollback", "revert"], "release rollback"),
    (&["releases"], "release list"),
    (&["import"], "model import"),
    (&["models"], "model list"),
    (
        &[
            "train",
            "training_set",
            "trainingset",
            "historical",
            "historical-features",
        ],
        "training-set",
    ),
    (
        &[
            "materialize",
            "materialise",
            "publish",
            "backfill",
            "compute",
            "night",
        ],
        "run",
    ),
    (&["server", "start", "up"], "serve"),
    (&["validate", "lint", "verify"], "check"),
    (&["history", "versions"], "log"),
    (&["get", "online", "lookup"], "features"),
];

/// Options as other programs call them, with ours, and the verbs that have it (all of them for none).
const OPTIONS: [(&[&str], &str, &[&str]); 14] = [
    (
        &[
            "--port",
            "-p",
            "--host",
            "--bind",
            "--address",
            "--addr",
            "-l",
        ],
        "--listen",
        &["serve", "demo"],
    ),
    (
        &["--at", "--date", "--asof", "--when", "--time", "--instant"],
        "--as-of",
        &["run", "features", "predict"],
    ),
    (&["--view"], "--views", &["run"]),
    (
        &["--earlier", "--force", "--back"],
        "--allow-earlier",
        &["run"],
    ),
    (
        &["--release", "--number", "-n"],
        "--to",
        &["release rollback"],
    ),
    (
        &["--key", "--keys", "--id"],
        "--entity",
        &["features", "predict"],
    ),
    (
        &["--file", "--input", "--frame", "--spine"],
        "--entities",
        &["features", "predict", "training-set"],
    ),
    (
        &["--field", "--fields", "--inputs"],
        "--request",
        &["features", "predict"],
    ),
    (&["--out"], "--output", &["training-set"]),
    (
        &["--jobs", "-j", "--workers", "--parallelism"],
        "--threads",
        &["run", "schedule", "training-set"],
    ),
    (
        &["--mem", "--memory-limit"],
        "--memory",
        &["run", "schedule", "training-set"],
    ),
    (&["--output", "-o"], "--format", &[]),
    (
        &["--dir", "--directory", "--folder", "--path", "--root", "-C"],
        "--project",
        &[],
    ),
    (&["--json"], "--format json", &[]),
];

/// The same error, saying what to write where it is known what was meant.
pub(crate) fn hinted(mut error: Error, mut command: Command, arguments: &[String]) -> Error {
    let unknown = |error: &Error, kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    command.build();
    let path = verb(&command, arguments);
    let (hint, wrong) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let argument = unknown(&error, ContextKind::InvalidArg);
            let hint = of_argument(&path.join(" "), &argument, arguments);
            (hint, ContextKind::SuggestedArg)
        }
        ErrorKind::InvalidSubcommand => {
            let word = unknown(&error, ContextKind::InvalidSubcommand);
            let known = VERBS
                .iter()
                .find(|(names, _)| names.contains(&word.as_str()));
            let hint = known.map(|(_, ours)| format!("write `nightfill {ours}`"));
            (hint, ContextKind::SuggestedSubcommand)
        }
        _ => return error,
    };
    let Some(hint) = hint else {
        return error;
    };
    error.remove(wrong);
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![hint.into()]),
    );
    let mut of_verb = &mut command;
    for word in path {
        match of_verb.find_subcommand_mut(word) {
            Some(found) => of_verb = found,
            None => return error,
        }
    }
    let usage = of_verb.render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// The words of the verb among the arguments: `release`, `rollback`.
fn verb<'a>(command: &Command, arguments: &'a [String]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut at = command;
    for argument in arguments {
        if let Some(found) = at.find_subcommand(argument) {
            words.push(argument.as_str());
            at = found;
        }
    }
    words
}

/// What was meant by an argument that the verb does not have.
fn of_argument(verb: &str, argument: &str, arguments: &[String]) -> Option<String> {
    if !argument.starts_with('-') {
        return positional(verb, argument);
    }
    if argument[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return Some("no number here is negative".to_owned());
    }
    let (_, ours, _) = OPTIONS.iter().find(|(names, _, verbs)| {
        names.contains(&argument) && (verbs.is_empty() || verbs.contains(&verb))
    })?;
    let value = value_of(argument, arguments);
    Some(match (*ours, value) {
        ("--listen", Some(value)) => format!("write `--listen {}`", address(argument, value)),
        ("--format json", _) | (_, None) => format!("write `{ours}`"),
        (ours, Some(value)) => format!("write `{ours} {value}`"),
    })
}

/// What stands after an option, if anything does.
fn value_of<'a>(option: &str, arguments: &'a [String]) -> Option<&'a str> {
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        if argument == option {
            return rest.next().filter(|value| !value.starts_with('-'));
        }
        let joined = argument.strip_prefix(option);
        if let Some(value) = joined.and_then(|joined| joined.strip_prefix('=')) {
            return Some(value);
        }
    }
    None
}

/// Where to listen, from a port alone or a host alone.
fn address(option: &str, value: &str) -> String {
    let is_host = matches!(option, "--host" | "--bind" | "--address" | "--addr");
    match listen::parse(value) {
        Ok(address) => address.to_string(),
        Err(_) if is_host => format!("{value}:8080"),
        Err(_) => "127.0.0.1:8080".to_owned(),
    }
}

/// The option that takes what was written without one.
fn positional(verb: &str, word: &str) -> Option<String> {
    let is_number = word.parse::<u64>().is_ok();
    let option = match verb {
        "serve" | "demo" if listen::parse(word).is_ok() => {
            return Some(format!("write `--listen {}`", address("", word)));
        }
        "demo" => "--dir",
        "release rollback" if is_number => "--to",
        "apply" if is_number => "--against",
        "run" | "features" | "predict" if word.starts_with(|c: char| c.is_ascii_digit()) => {
            "--as-of"
        }
        "run" => "--views",
        "features" | "predict" if word.contains('=') => "--entity",
        "features" | "predict" if word.starts_with('{') => "--entities",
        "training-set" if word.contains('.') => "--entities",
        "features" | "training-set" => "--service",
        "predict" => "--model",
        "" | "init" | "schema" | "model import" | "release show" | "diff" => return None,
        _ => "--project",
    };
    Some(format!("write `{option} {word}`"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    fn told(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let whole = std::iter::once("nightfill".to_owned()).chain(words.iter().cloned());
        let refused = Arguments::command().try_get_matches_from(whole);
        let error = hinted(refused.expect_err(line), Arguments::command(), &words);
        error.render().to_string()
    }

    #[test]
    fn what_was_meant_is_written_out() {
        for (line, meant) in [
            ("serve --port 18211", "`--listen 127.0.0.1:18211`"),
            ("serve --port=18211", "`--listen 127.0.0.1:18211`"),
            ("serve -p 18211", "`--listen 127.0.0.1:18211`"),
            ("serve --host 0.0.0.0", "`--listen 0.0.0.0:8080`"),
            ("serve --port", "`--listen`"),
            ("serve 18211", "`--listen 127.0.0.1:18211`"),
            ("serve shop", "`--project shop`"),
            ("demo 18211", "`--listen 127.0.0.1:18211`"),
            ("demo shop", "`--dir shop`"),
            ("release rollback 3", "`--to 3`"),
            ("release rollback --release 3", "`--to 3`"),
            ("release rollback --to -1", "no number here is negative"),
            ("apply 3", "`--against 3`"),
            ("run 2026-01-01", "`--as-of 2026-01-01`"),
            ("run --date 2026-01-01", "`--as-of 2026-01-01`"),
            ("run customer_spend", "`--views customer_spend`"),
            ("run --threads -1", "no number here is negative"),
            ("features customer_v1", "`--service customer_v1`"),
            ("features customer_id=7", "`--entity customer_id=7`"),
            ("predict churn", "`--model churn`"),
            ("training-set frame.csv", "`--entities frame.csv`"),
            ("check shop", "`--project shop`"),
            ("status --json", "`--format json`"),
            ("status --dir shop", "`--project shop`"),
            ("rollback", "`nightfill release rollback`"),
            ("materialize", "`nightfill run`"),
        ] {
            let said = told(line);
            assert!(
                said.contains("tip: ") && said.contains(meant),
                "{line}: {said}"
            );
            assert!(!said.contains("--format <FORMAT>"), "{line}: {said}");
        }
    }

    #[test]
    fn what_is_not_known_is_left_to_the_parser() {
        for line in ["serve --frobnicate 3", "nonsense", "schema x"] {
            assert!(!told(line).contains("write `"), "{line}");
        }
    }

    #[test]
    fn every_word_of_the_hints_is_one_of_ours() {
        let mut command = Arguments::command();
        command.build();
        for (others, ours) in VERBS {
            let mut at = &command;
            for word in ours.split(' ') {
                at = at.find_subcommand(word).expect(ours);
            }
            let taken = others
                .iter()
                .find(|name| command.find_subcommand(name).is_some());
            assert_eq!(taken, None);
        }
        for (others, ours, verbs) in OPTIONS {
            let named = |verb: &str| {
                let words = verb.split(' ');
                let mut at = &command;
                for word in words {
                    at = at.find_subcommand(word).expect(verb);
                }
                let longs = at.get_arguments().filter_map(clap::Arg::get_long);
                longs.map(|long| format!("--{long}")).collect::<Vec<_>>()
            };
            let option = ours.split(' ').next().unwrap_or(ours).to_owned();
            for verb in verbs {
                assert!(named(verb).contains(&option), "{verb} {ours}");
                let taken = others
                    .iter()
                    .find(|name| named(verb).iter().any(|n| n == *name));
                assert_eq!(taken, None, "{verb}");
            }
        }
    }
}
