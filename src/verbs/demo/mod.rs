//! `nightfill demo`: the whole product on real purchases, in one command.

mod conversation;
mod example;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::Context;
use feature_defs::name::Name;
use feature_defs::time::{Instant, Stopwatch};
use serving::startup::StartError;
use serving::{Server, ServerSettings};

use crate::args::Global;
use crate::output;
use crate::progress::Shown;
use crate::project::{self, Opened};
use crate::verbs::{apply, check, model, run, serve};

/// Lays out the example project (69,659 real purchases of CDNOW), checks and applies it, runs the night as of
/// 1997-10-01, imports the model, starts a server on loopback, asks it for one prediction and shows the answer.
/// A second start reuses what is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nightfill demo --once")]
pub(crate) struct Demo {
    /// End after the first answer instead of staying up
    #[arg(long)]
    once: bool,
    /// Where the example project and its state go
    #[arg(long, value_name = "DIR", default_value = ".nightfill-demo")]
    dir: PathBuf,
}

/// The night that the demo runs: the newest instant of the purchases' first nine months.
const AS_OF: &str = "1997-10-01";

/// Where the demo's server listens, unless the port is taken.
const PORT: u16 = 8080;

impl Demo {
    pub(crate) async fn run(self, _global: &Global) -> anyhow::Result<()> {
        let stopwatch = Stopwatch::start();
        lay_out(&self.dir)?;
        let mut steps = Steps(Stopwatch::start());
        let definitions = project::definitions(&self.dir)?;
        steps.done("check", check::describe(&definitions))?;
        let opened = Opened::with(definitions).await?;
        let applied = apply::apply(&opened).await?;
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
        let server = start(&opened).await?;
        steps.done("serve", format_args!("http://{}", server.address()))?;

        conversation::hold(&server).await?;
        let seconds = stopwatch.elapsed().as_secs_f64();
        output::line(format_args!(
            "\nfirst answer {seconds:.1} s after the start"
        ))?;
        if !self.once {
            conversation::suggest(&self.dir, &server)?;
            signals.wait().await;
        }
        server.shut_down().await;
        Ok(())
    }
}

/// Lines of the demo's steps, each with its time.
struct Steps(Stopwatch);

impl Steps {
    fn done(&mut self, step: &str, what: impl std::fmt::Display) -> anyhow::Result<()> {
        let milliseconds = self.0.lap().as_secs_f64() * 1e3;
        output::line(format_args!("{step:<7} {milliseconds:>7.1} ms  {what}"))
    }
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
        &run::all_views(as_of),
        &run::Means::default(),
        &shown,
    )
    .await?;
    Ok(run::summary(&report))
}

/// Starts the server on the usual port, or on a free one when that is taken.
async fn start(opened: &Opened) -> anyhow::Result<Server> {
    let at = |port| ServerSettings {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        ..ServerSettings::default()
    };
    match serving::start(at(PORT), serve::components(opened)).await {
        Err(StartError::Listen { .. }) => {
            output::note(format_args!("port {PORT} is taken: taking a free one"));
            Ok(serving::start(at(0), serve::components(opened)).await?)
        }
        started => Ok(started?),
    }
}
