//! `nightfill demo`: the whole product on real purchases, in one command.

mod conversation;
mod example;

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use feature_defs::name::Name;
use feature_defs::parse::PROJECT_FILE;
use feature_defs::time::{Instant, Stopwatch};
use pipelines::run::RunRequest;
use serving::startup::StartError;
use serving::{Server, ServerSettings};

use crate::args::{Format, Global};
use crate::listen;
use crate::output;
use crate::progress::Shown;
use crate::project::{self, Opened};
use crate::verbs::{apply, check, model, run, serve};

/// Lays out the example project (69,659 real purchases of CDNOW), checks and applies it, runs the night as of
/// 1997-10-01, imports the model, starts a server on loopback, asks it for one prediction and shows the answer.
/// A second start reuses what is there. With `--format json`, standard output holds the server's answer alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill demo --once")]
pub(crate) struct Demo {
    /// End after the first answer instead of staying up
    #[arg(long)]
    once: bool,
    /// Where the example project and its state go: a folder of its own
    #[arg(long, value_name = "DIR", default_value = ".nightfill-demo")]
    dir: PathBuf,
    /// Where the demo's server listens, as `serve --listen` does [default: port 8080, or a free one when that is taken]
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = listen::parse)]
    listen: Option<SocketAddr>,
}

/// The night that the demo runs: the newest instant of the purchases' first nine months.
const AS_OF: &str = "1997-10-01";

/// Where the demo's server listens, unless the port is taken.
const PORT: u16 = 8080;

impl Demo {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        refuse_others(&self.dir)?;
        lay_out(&self.dir)?;
        let stage = Stage(global.format);
        let mut steps = Steps {
            stage,
            stopwatch: Stopwatch::start(),
        };
        let definitions = project::definitions(&self.dir)?;
        steps.done("check", check::describe(&definitions))?;
        let files = Some(definitions.fingerprint);
        let opened = Opened::with(definitions.project.clone(), files).await?;
        let applied = apply::apply(&opened, &definitions, None).await?;
        steps.done(
            "apply",
            format_args!("version {} of the definitions", applied.version),
        )?;
        for (name, file) in example::MODELS {
            let file = self.dir.join(file);
            let imported = model::import(&opened, &Name::parse(name)?, &file).await?;
            steps.done("model", imported)?;
        }
        steps.done("night", night(&opened).await?)?;
        let signals = serving::shutdown::Signals::listen()?;
        let server = start(&opened, self.listen).await?;
        steps.done("serve", format_args!("http://{}", server.address()))?;

        conversation::hold(&server, stage).await?;
        let seconds = stopwatch.elapsed().as_secs_f64();
        stage.tell(format_args!(
            "\nfirst answer {seconds:.1} s after the start"
        ))?;
        if self.once {
            let folder = output::quoted(&self.dir);
            stage.tell(format_args!(
                "the project is in {folder}; without `--once` the server stays up: try `nightfill --project {folder} status`"
            ))?;
        } else {
            conversation::suggest(&self.dir, &server, stage)?;
            signals.wait().await;
        }
        server.shut_down().await;
        Ok(())
    }
}

/// Where the demo speaks: all of it is its answer to people, only the server's answer is its answer to scripts.
#[derive(Debug, Clone, Copy)]
struct Stage(Format);

impl Stage {
    /// Tells what goes on around the server's answer.
    fn tell(self, text: impl std::fmt::Display) -> anyhow::Result<()> {
        match self.0 {
            Format::Text => output::line(text),
            Format::Json => {
                output::note(text);
                Ok(())
            }
        }
    }
}

/// Lines of the demo's steps, each with its time.
struct Steps {
    stage: Stage,
    stopwatch: Stopwatch,
}

impl Steps {
    fn done(&mut self, step: &str, what: impl std::fmt::Display) -> anyhow::Result<()> {
        let milliseconds = self.stopwatch.lap().as_secs_f64() * 1e3;
        self.stage
            .tell(format_args!("{step:<7} {milliseconds:>7.1} ms  {what}"))
    }
}

/// Refuses a folder that holds anything but the demo, before anything in it is touched.
fn refuse_others(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    if folder.join(PROJECT_FILE).is_file() {
        let name = project::settings(folder)?.name;
        if name.as_str() != example::PROJECT {
            bail!(
                "`{shown}` holds project `{name}`, which the demo does not touch: name another folder with `--dir`"
            );
        }
        return Ok(());
    }
    let is_free = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if !is_free {
        bail!(
            "`{shown}` holds other files, which the demo does not touch: name a folder of its own with `--dir`"
        );
    }
    Ok(())
}

/// Writes the example's files where they are not there yet; what is there is kept as it is.
fn lay_out(folder: &Path) -> anyhow::Result<()> {
    for (path, bytes) in example::FILES {
        let path = folder.join(path);
        if path.exists() {
            continue;
        }
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(&path, bytes)
        };
        write().with_context(|| format!("`{}` cannot be written", path.display()))?;
    }
    Ok(())
}

/// Runs the demo's night, unless its release is served already; what happened.
async fn night(opened: &Opened) -> anyhow::Result<String> {
    let as_of = Instant::parse(AS_OF)?;
    let applied = opened.applied().await?;
    if let Some(number) = opened.online.served().await? {
        let served = opened.online.release(number).await?;
        let bundles = opened.registry.bundles().await?;
        let mut models = served.models.iter().map(|model| model.bundle);
        let all_models = bundles
            .iter()
            .all(|kept| models.any(|bundle| bundle == kept.fingerprint));
        if served.as_of == as_of && served.definitions_version == applied.version && all_models {
            return Ok(format!("release {number} as of {as_of} is served already"));
        }
    }
    let shown = Shown::new();
    let report = run::night(
        opened,
        &applied,
        &RunRequest {
            // The demo's night is always the same, whatever was tried after it.
            allow_earlier: true,
            ..run::all_views(as_of)
        },
        &run::Means::default(),
        &shown,
    )
    .await?;
    Ok(run::summary(&report))
}

/// Starts the server where it was asked to be, or on the usual port, or on a free one when that is taken.
async fn start(opened: &Opened, listen: Option<SocketAddr>) -> anyhow::Result<Server> {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let at = |listen| ServerSettings {
        listen,
        ..ServerSettings::default()
    };
    let wanted = listen.unwrap_or(usual);
    match serving::start(at(wanted), serve::components(opened)).await {
        Err(StartError::Listen { .. }) if listen.is_none() => {
            output::note(format_args!(
                "port {PORT} is taken: taking a free one; `--listen` names one"
            ));
            let free = SocketAddr::new(usual.ip(), 0);
            Ok(serving::start(at(free), serve::components(opened)).await?)
        }
        started => started.map_err(serve::told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_holds_anything_else_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        refuse_others(folder.path()).expect("an empty folder");
        refuse_others(&folder.path().join("new")).expect("no folder yet");
        fs::write(folder.path().join("notes.txt"), "mine").expect("a file");
        let refused = refuse_others(folder.path()).expect_err("other files");
        assert!(refused.to_string().contains("other files"), "{refused}");
        lay_out(folder.path()).expect("the demo");
        refuse_others(folder.path()).expect("the demo's own folder");
    }
}
