//! The keys of `nightfill.yaml`.

use super::key;
use crate::language::Form::{Map, Name, OneOf, Part, Syntax, Timezone};
use crate::language::Presence::{Default, Required};
use crate::language::{Form, Key, Object};

const FOLDER_OR_OBJECTS: Form =
    Syntax("a folder, `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`");

pub(crate) static PROJECT: Object = Object {
    title: "The project: `nightfill.yaml`",
    meaning: "The file that makes a folder a project. It holds settings, and may hold sections as every other file does.",
    keys: &[
        key(
            "version",
            OneOf(&["1"]),
            Required,
            "The version of this language.",
            "1",
        ),
        key("project", Name, Required, "The project's name.", "shop"),
        key(
            "renamed_from",
            Name,
            Default("none"),
            "The name that the project had before. A registry belongs to the project that applied to it first; with this key it is taken over by the next `apply`.",
            "corner_shop",
        ),
        key(
            "timezone",
            Timezone,
            Default("`UTC`"),
            "The zone of days and of times without one, and of schedules, unless they name another.",
            "Europe/Vienna",
        ),
        key(
            "registry",
            Syntax("`sqlite://path` or `postgres://user@host/database`"),
            Default("`sqlite://.nightfill/registry.db`"),
            "Where definitions, runs, releases and models are recorded. A password is not written here: it comes from `PGPASSWORD` or the password file.",
            "postgres://nightfill@db/features",
        ),
        key(
            "offline",
            FOLDER_OR_OBJECTS,
            Default("`.nightfill/offline`"),
            "Where all computed snapshots are.",
            "data/offline",
        ),
        key(
            "online",
            Syntax("`embedded://path`, `redis://user@host:6379/0` or `rediss://...`"),
            Default("`embedded://.nightfill/online`"),
            "Where served releases are: a folder on local disk, or a Redis or Valkey server (docs/redis.md), with TLS after `rediss://`. A password is not written here: it comes from `NIGHTFILL_ONLINE_PASSWORD` or `REDIS_PASSWORD`. Keys on a server start with the project's name and that of its environment, or with what `?namespace=name` says instead.",
            "redis://nightfill@db:6379/0",
        ),
        DATABASES,
        ROOTS,
        key(
            "environments",
            Map(&Part(&ENVIRONMENT)),
            Default("none"),
            "Places for the same definitions to live, picked with `--env NAME` or the variable `NIGHTFILL_ENV`. What an environment leaves out is in its own folder below `.nightfill`; no two environments share a place.",
            "{ prod: { registry: postgres://nightfill@db/features } }",
        ),
    ],
    about: false,
    example: "version: 1
project: shop
timezone: Europe/Vienna
environments:
  dev: {}
  prod: { registry: postgres://nightfill@db/features }
",
};

const DATABASES: Key = key(
    "databases",
    Map(&Syntax("`postgres://user@host/database`")),
    Default("none"),
    "PostgreSQL databases that sources are read from, by the names that sources use. An environment says where those of the project are instead. Passwords are not written here: they come from `PGPASSWORD` or the password file.",
    "{ shop: postgres://reader@db/shop }",
);

const ROOTS: Key = key(
    "roots",
    Map(&FOLDER_OR_OBJECTS),
    Default("none"),
    "Places besides the project's folder that hold files of sources, by the names that sources use. An environment says where those of the project are instead. Credentials, regions and endpoints of object storage are not written here: they come from the environment, by the usual names (`AWS_ACCESS_KEY_ID`, `AWS_REGION`, `AWS_ENDPOINT_URL`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME`, ...), or from the machine's own role.",
    "{ raw: s3://shop-raw/events }",
);

pub(crate) static ENVIRONMENT: Object = Object {
    title: "An environment",
    meaning: "Settings only: what is computed is the same in all of them.",
    keys: &[
        key(
            "registry",
            Syntax("`sqlite://path` or `postgres://user@host/database`"),
            Default("`sqlite://.nightfill/NAME/registry.db`"),
            "As in the project.",
            "postgres://nightfill@db/features",
        ),
        key(
            "offline",
            FOLDER_OR_OBJECTS,
            Default("`.nightfill/NAME/offline`"),
            "As in the project.",
            "/var/lib/nightfill/offline",
        ),
        key(
            "online",
            Syntax("`embedded://path`, `redis://user@host:6379/0` or `rediss://...`"),
            Default("`embedded://.nightfill/NAME/online`"),
            "As in the project.",
            "embedded:///var/lib/nightfill/online",
        ),
        key(
            "databases",
            Map(&Syntax("`postgres://user@host/database`")),
            Default("the project's"),
            "Where databases of the project are in this environment.",
            "{ shop: postgres://reader@replica/shop }",
        ),
        key(
            "roots",
            Map(&FOLDER_OR_OBJECTS),
            Default("the project's"),
            "Where roots of the project are in this environment.",
            "{ raw: s3://shop-raw-prod/events }",
        ),
    ],
    about: false,
    example: "",
};
