//! Object storage: places that hold files of sources, or all snapshots.
//!
//! Settings beside the place itself (credentials, regions, endpoints) come from the environment, by the names that the
//! providers' own tools use.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use feature_defs::time::Instant;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{
    GetOptions, GetResult, OBJECT_STORE_COALESCE_DEFAULT, ObjectMeta, ObjectStore, ObjectStoreExt,
    coalesce_ranges, parse_url_opts,
};
use url::Url;

use crate::error::{Error, ErrorKind, Result};

/// A bucket, or what is below a prefix of one.
#[derive(Clone)]
pub struct Objects {
    objects: Arc<dyn ObjectStore>,
    url: String,
}

/// An object, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundObject {
    /// Its path below the place that it was found in.
    pub path: String,
    /// Its size in bytes.
    pub length: u64,
    /// When it was written.
    pub modified: Instant,
    /// What changes whenever it is written again.
    pub etag: Option<String>,
}

impl Objects {
    /// The place that a URL names: `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`. Nothing is asked
    /// of it yet.
    ///
    /// # Errors
    /// `Invalid` when settings of the environment do not fit.
    pub fn open(url: &str) -> Result<Self> {
        Self::with_settings(url, std::env::vars())
    }

    /// The same with these settings in the place of the environment.
    ///
    /// # Errors
    /// As [`Objects::open`].
    pub fn with_settings(
        url: &str,
        settings: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let settings = settings
            .into_iter()
            .map(|(name, value)| (name.to_lowercase(), value));
        let bucket = bucket_of(scheme, bucket, settings)
            .map_err(|error| said(error, url, "cannot be opened"))?;
        let prefix = Path::parse(prefix)
            .map_err(|error| said(error.into(), url, "has a prefix that no object has"))?;
        let objects: Arc<dyn ObjectStore> = match prefix.as_ref() {
            "" => bucket,
            _ => Arc::new(PrefixStore::new(bucket, prefix)),
        };
        Ok(Self {
            objects,
            url: url.trim_end_matches('/').to_owned(),
        })
    }

    /// For those who read and keep files here by themselves.
    pub(crate) fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.objects)
    }

    /// Its URL.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The objects below a folder, however deep; all of them for an empty one.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, or refuses.
    pub async fn list(&self, folder: &str) -> Result<Vec<FoundObject>> {
        let path = self.path(folder)?;
        let found = self.objects.list((!folder.is_empty()).then_some(&path));
        let found = found.map_ok(|meta| found_object(&meta)).try_collect().await;
        found.map_err(|error| self.failed(error, folder))
    }

    /// One object. `None` when it is not there.
    ///
    /// # Errors
    /// `Unavailable` when the store does not answer, or refuses.
    pub async fn find(&self, path: &str) -> Result<Option<FoundObject>> {
        match self.objects.head(&self.path(path)?).await {
            // A store below a prefix says the path with its prefix here.
            Ok(meta) => Ok(Some(FoundObject {
                path: path.to_owned(),
                ..found_object(&meta)
            })),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(error, path)),
        }
    }

    /// Bytes of an object, in the order of `ranges`; near ones are read together, others side by side.
    ///
    /// # Errors
    /// `Conflict` when the object was written again since it was found, `Unavailable` when the store does not answer.
    pub async fn ranges(&self, object: &FoundObject, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let path = self.path(&object.path)?;
        let options = unchanged(object);
        let fetch = |range: Range<u64>| {
            let (objects, path) = (Arc::clone(&self.objects), path.clone());
            let options = options.clone().with_range(Some(range));
            async move { objects.get_opts(&path, options).await?.bytes().await }.boxed()
        };
        let read = coalesce_ranges(ranges, fetch, OBJECT_STORE_COALESCE_DEFAULT).await;
        read.map_err(|error| self.failed(error, &object.path))
    }

    /// All bytes of an object, as they come.
    ///
    /// # Errors
    /// As [`Objects::ranges`].
    pub async fn stream(&self, object: &FoundObject) -> Result<BoxStream<'static, Result<Bytes>>> {
        let path = self.path(&object.path)?;
        let read = self.objects.get_opts(&path, unchanged(object)).await;
        let read: GetResult = read.map_err(|error| self.failed(error, &object.path))?;
        let (this, path) = (self.clone(), object.path.clone());
        let bytes = read.into_stream();
        Ok(bytes
            .map_err(move |error| this.failed(error, &path))
            .boxed())
    }

    fn path(&self, path: &str) -> Result<Path> {
        Path::parse(path).map_err(|error| self.failed(error.into(), path))
    }

    fn failed(&self, error: object_store::Error, path: &str) -> Error {
        let place = match path {
            "" => self.url.clone(),
            path => format!("{}/{path}", self.url),
        };
        said(error, &place, "cannot be read")
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Objects").field(&self.url).finish()
    }
}

fn found_object(meta: &ObjectMeta) -> FoundObject {
    FoundObject {
        path: meta.location.to_string(),
        length: meta.size,
        modified: Instant::from_micros(meta.last_modified.timestamp_micros()),
        etag: meta.e_tag.clone(),
    }
}

/// Only while the object is what was found.
fn unchanged(object: &FoundObject) -> GetOptions {
    GetOptions::default().with_if_match(object.etag.clone())
}

/// A bucket with those of the settings that its provider's names start.
fn bucket_of(
    scheme: &str,
    bucket: &str,
    settings: impl Iterator<Item = (String, String)>,
) -> object_store::Result<Arc<dyn ObjectStore>> {
    let provider = match scheme {
        "gs" => "google_",
        "az" => "azure_",
        _ => "aws_",
    };
    let mut settings: Vec<_> = settings
        .filter(|(name, _)| name.starts_with(provider))
        .collect();
    // Somebody who names an endpoint without TLS means it.
    let is_open = |(name, value): &(String, String)| {
        name.starts_with("aws_endpoint") && value.starts_with("http://")
    };
    if settings.iter().any(is_open) {
        settings.insert(0, ("aws_allow_http".to_owned(), "true".to_owned()));
    }
    let url = Url::parse(&format!("{scheme}://{bucket}"));
    let url = url.map_err(|error| object_store::Error::Generic {
        store: "URL",
        source: Box::new(error),
    })?;
    let (objects, _) = parse_url_opts(&url, settings)?;
    Ok(objects.into())
}

/// What the object store said, in our words.
fn said(error: object_store::Error, place: &str, otherwise: &str) -> Error {
    let (kind, what) = match &error {
        object_store::Error::NotFound { .. } => (ErrorKind::NotFound, "is not there"),
        object_store::Error::Precondition { .. } => (
            ErrorKind::Conflict,
            "was written again while it was read: run again",
        ),
        object_store::Error::Unauthenticated { .. }
        | object_store::Error::PermissionDenied { .. } => (
            ErrorKind::Unavailable,
            "may not be read with the credentials of the environment",
        ),
        _ => (ErrorKind::Unavailable, otherwise),
    };
    let told = Error::new(kind, format!("`{place}` {what}"));
    match what == otherwise {
        true => told.with_source(error),
        false => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::servers::s3_bucket;

    const FIRST: Range<u64> = 0..2;

    fn paths(found: &[FoundObject]) -> Vec<&str> {
        let mut paths: Vec<&str> = found.iter().map(|object| object.path.as_str()).collect();
        paths.sort_unstable();
        paths
    }

    #[tokio::test]
    async fn objects_are_found_below_their_prefix_and_read_by_ranges() {
        let Some(bucket) = s3_bucket() else {
            return;
        };
        let objects = bucket.objects();
        assert_eq!(objects.list("").await.expect("listed"), []);
        assert_eq!(objects.find("a/one").await.expect("asked"), None);
        let bytes: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
        bucket.put("a/one", bytes.clone()).await;
        bucket.put("a/odd name=%41 \u{e4}", "x").await;
        bucket.put("ab/two", "two").await;
        let all = objects.list("").await.expect("listed");
        assert_eq!(paths(&all), ["a/odd name=%41 \u{e4}", "a/one", "ab/two"]);
        let below = objects.list("a").await.expect("listed");
        assert_eq!(paths(&below), ["a/odd name=%41 \u{e4}", "a/one"]);

        let one = objects.find("a/one").await.expect("asked").expect("found");
        assert_eq!(one.length, 3 << 20);
        let ranges = [2_500_000..2_500_004, 0..3, 10..10, 5..7];
        let read = objects.ranges(&one, &ranges).await.expect("read");
        let expected = ranges.map(|range| {
            let [start, end] =
                [range.start, range.end].map(|at| usize::try_from(at).expect("small"));
            Bytes::copy_from_slice(&bytes[start..end])
        });
        assert_eq!(read, expected);
        let whole = objects.stream(&one).await.expect("a stream");
        let whole: Vec<Bytes> = whole.try_collect().await.expect("read");
        assert_eq!(whole.concat(), bytes);
        let odd = objects.find("a/odd name=%41 \u{e4}").await.expect("asked");
        assert_eq!(odd.expect("found").length, 1);
    }

    #[tokio::test]
    async fn an_object_that_was_written_again_is_not_read_as_the_old_one() {
        let Some(bucket) = s3_bucket() else {
            return;
        };
        bucket.put("one", "first").await;
        let objects = bucket.objects();
        let before = objects.find("one").await.expect("asked").expect("found");
        bucket.put("one", "other").await;
        let start = std::slice::from_ref(&FIRST);
        let error = objects.ranges(&before, start).await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Conflict);
        let told = error.to_string();
        assert!(
            told.ends_with("was written again while it was read: run again"),
            "{told}"
        );
        let error = objects.stream(&before).await.err().expect("refused");
        assert_eq!(error.kind(), ErrorKind::Conflict);
        bucket.delete("one").await;
        let error = objects.ranges(&before, start).await.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn places_and_settings_of_each_provider_are_known() {
        let open = |url: &str, settings: &[(&str, &str)]| {
            let settings = settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Objects::with_settings(url, settings)
        };
        for (url, settings) in [
            ("s3://bucket", &[][..]),
            (
                "s3://bucket/a/b/",
                &[("AWS_REGION", "eu-central-1"), ("HOME", "/root")],
            ),
            ("gs://bucket/a", &[("GOOGLE_SKIP_SIGNATURE", "true")]),
            (
                "az://container/a",
                &[
                    ("AZURE_STORAGE_ACCOUNT_NAME", "shop"),
                    ("AZURE_SKIP_SIGNATURE", "true"),
                ],
            ),
        ] {
            open(url, settings).unwrap_or_else(|error| panic!("{url}: {error}"));
        }
        let refused = open("az://container", &[]).expect_err("no account");
        assert_eq!(refused.to_string(), "`az://container` cannot be opened");
    }
}
