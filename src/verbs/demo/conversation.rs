//! What the demo asks its server, what it is answered, and what to ask next.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use feature_defs::time::Stopwatch;
use serving::Server;

use super::{Stage, example};
use crate::output;
use crate::pretty::pretty;

/// An answer as it came over HTTP.
struct Reply {
    status: u16,
    timing: String,
    body: String,
    milliseconds: f64,
}

/// Asks the server over HTTP and shows request and answer.
///
/// # Errors
/// When the server does not answer with 200.
pub(super) async fn hold(server: &Server, stage: Stage) -> anyhow::Result<()> {
    let (path, body) = question(server)?;
    stage.tell(format_args!("\nPOST {path}\n{}", pretty(&body)))?;
    let url = format!("http://{}{path}", server.address());
    // A fresh connection, as a caller's first request has.
    let reply = tokio::task::spawn_blocking(move || ask(&url, &body)).await??;
    let (status, milliseconds) = (reply.status, reply.milliseconds);
    stage.tell(format_args!(
        "\n{status} in {milliseconds:.1} ms, connection included"
    ))?;
    stage.tell(format_args!("Server-Timing: {}", reply.timing))?;
    output::line(pretty(&reply.body))?;
    if status != 200 {
        bail!("the server answered {status}");
    }
    Ok(())
}

/// Path and body of the demo's request: a prediction if the release has the model, else the features.
fn question(server: &Server) -> anyhow::Result<(String, String)> {
    let served = server.predictor().served();
    let served = served.ok_or_else(|| anyhow!("the server has no release to answer from"))?;
    let models = &served.release().models;
    let (path, explain) = match models.first() {
        Some(model) => (format!("/v1/predict/{}", model.model), true),
        None => {
            let services = &served.definitions().services;
            let (service, _) = services.first().context("the example has no service")?;
            (format!("/v1/features/{service}"), false)
        }
    };
    Ok((path, example::request(explain)))
}

fn ask(url: &str, body: &str) -> anyhow::Result<Reply> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let stopwatch = Stopwatch::start();
    let request = agent.post(url).header("content-type", "application/json");
    let mut response = request.send(body).context("the demo's request failed")?;
    let text = response.body_mut().read_to_string()?;
    let timing = response.headers().get("server-timing");
    let timing = timing.and_then(|timing| timing.to_str().ok());
    Ok(Reply {
        status: response.status().as_u16(),
        timing: timing.unwrap_or("none").to_owned(),
        body: text,
        milliseconds: stopwatch.elapsed().as_secs_f64() * 1e3,
    })
}

/// What to try while the server is up.
///
/// # Errors
/// When standard output is gone.
pub(super) fn suggest(folder: &Path, server: &Server, stage: Stage) -> anyhow::Result<()> {
    let (path, body) = question(server)?;
    let (address, folder) = (server.address(), output::quoted(folder));
    stage.tell(format_args!(
        "\nup at http://{address} until ctrl-c. Try:
  curl -s http://{address}{path} -d '{body}'
  curl -s http://{address}/openapi.json
  curl -s http://{address}/metrics
and beside it, in another terminal:
  nightfill --project {folder} status
  nightfill --project {folder} run --as-of 1997-10-02       # the server follows within a second
  nightfill --project {folder} release rollback             # and back
the definitions are in {folder}: change them, then `nightfill --project {folder} check`"
    ))
}
