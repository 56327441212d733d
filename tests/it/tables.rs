//! Sources that are tables of PostgreSQL: the same rows give the same values as files do.

use std::fmt::Write;

use arrow::array::RecordBatch;
use serde_json::Value;
use store::conformance::servers::{FilledSchema, postgres_filled};

use crate::harness::{self, Project, parquet};

/// The source's files in the definitions of the example.
const FILES: &str = "    path: data/purchases.parquet\n";

fn filled(statements: &str) -> Option<FilledSchema> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(postgres_filled(statements))
}

/// The purchases of the example, in a table with one column more and in another order.
fn purchases() -> Option<FilledSchema> {
    let rows = parquet::read(&harness::example().join("data/purchases.parquet"));
    let [customers, days, cds, cents] = ["customer_id", "purchase_date", "cds", "amount_cents"]
        .map(|name| parquet::integers(&rows, name));
    let mut statements = "CREATE TABLE purchases (
            amount_cents int4, cds int2, note text, purchase_date date, customer_id int4);
         INSERT INTO purchases (customer_id, purchase_date, cds, amount_cents) VALUES "
        .to_owned();
    for row in (0..rows.num_rows()).rev() {
        let value = |column: &[Option<i64>]| column[row].expect("a value");
        let (customer, day) = (value(&customers), value(&days));
        let (cds, cents) = (value(&cds), value(&cents));
        let comma = if row == 0 { "" } else { "," };
        write!(
            statements,
            "({customer}, date '1970-01-01' + {day}, {cds}, {cents}){comma}"
        )
        .expect("text");
    }
    filled(&statements)
}

/// The example over the table.
fn example_over(schema: &FilledSchema) -> Project {
    let project = Project::example_definitions();
    project.write(
        "nightfill.yaml",
        format!(
            "version: 1\nproject: cdnow\ndatabases: {{ shop: '{}' }}\n",
            schema.url
        ),
    );
    let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
    let definitions = definitions.expect("definitions");
    assert!(definitions.contains(FILES));
    let table = format!("    database: shop\n    table: {}.purchases\n", schema.name);
    project.write("features/customer.yaml", definitions.replace(FILES, &table));
    project
}

fn snapshot(project: &Project, view: &str) -> RecordBatch {
    let files = project.snapshots(view);
    assert_eq!(files.len(), 1, "{view}: {files:?}");
    parquet::read(&files[0])
}

#[test]
fn the_example_over_a_table_gives_what_it_gives_over_a_file() {
    let Some(schema) = purchases() else {
        return;
    };
    let (of_table, of_file) = (example_over(&schema), Project::example());
    for project in [&of_table, &of_file] {
        project.apply_and_run(&["1997-10-01"]);
    }
    for view in ["customer_spend", "customer_rfm", "customer_ltv"] {
        let (of_table, of_file) = (snapshot(&of_table, view), snapshot(&of_file, view));
        assert_eq!(of_table.num_rows(), of_file.num_rows(), "{view}");
        assert_eq!(of_table.columns(), of_file.columns(), "{view}");
    }
    let frame = "customer_id,as_of,amount_cents,cds\n1,1997-01-02,5,1\n2,1997-06-30,5,1\n23570,1998-07-01,5,1\n99999,1997-10-01,5,1\n";
    let service = "buys_again_v1";
    let (table, file) = (
        of_table.train(service, frame),
        of_file.train(service, frame),
    );
    assert_eq!(table, file);
    let manifest = std::fs::read_to_string(of_table.root().join("trained.parquet.manifest.json"));
    let manifest: Value = serde_json::from_str(&manifest.expect("a manifest")).expect("JSON");
    let name = format!("shop.{}.purchases", schema.name);
    let state = &manifest["sources"]["purchases"][&name];
    // Purchases up to the latest as-of of the frame: all of them.
    assert_eq!(state["rows"], 69_659);
    assert!(
        state["read_at"]
            .as_str()
            .is_some_and(|at| at.ends_with('Z')),
        "{state}"
    );
}

/// The small shop, whose purchases are in a table.
struct Shop {
    project: Project,
    definitions: String,
}

impl Shop {
    /// With these places of databases in its settings.
    fn new(settings: &str) -> Self {
        let project = harness::shop();
        let definitions = std::fs::read_to_string(project.root().join("features/customer.yaml"));
        let definitions = definitions.expect("definitions");
        project.write(
            "nightfill.yaml",
            format!("version: 1\nproject: shop\n{settings}"),
        );
        Self {
            project,
            definitions,
        }
    }

    /// Takes the purchases from a table.
    fn over(&self, table: &str) {
        let path = "path: data/purchases.csv";
        assert!(self.definitions.contains(path));
        let place = format!("database: shop\n    table: {table}");
        let definitions = self.definitions.replace(path, &place);
        self.project.write("features/customer.yaml", definitions);
    }

    /// What `check` says to standard error.
    fn warned(&self) -> String {
        harness::stderr(&harness::finish(self.project.command(&["check"])))
    }
}

#[test]
fn an_environment_reads_its_own_database_and_computes_the_same() {
    let one = filled(
        "CREATE TABLE purchases (customer_id int8, at timestamptz, amount numeric(12,2));
        INSERT INTO purchases VALUES (1, '2026-02-01T10:00Z', 10)",
    );
    let two = filled(
        "CREATE TABLE purchases (customer_id int8, at timestamptz, amount numeric(12,2));
        INSERT INTO purchases VALUES (1, '2026-02-01T10:00Z', 11), (2, '2026-03-01T00:00Z', 5)",
    );
    let (Some(one), Some(two)) = (one, two) else {
        return;
    };
    let shop = Shop::new(&format!(
        "databases: {{ shop: '{}' }}\nenvironments: {{ prod: {{ databases: {{ shop: '{}' }} }} }}\n",
        one.url, two.url
    ));
    // A name alone is in schema `public`, whatever the connection looks through.
    shop.over("purchases");
    let warned = shop.warned();
    assert!(
        warned.contains("source `purchases`: database `shop` has no table `public.purchases`"),
        "{warned}"
    );
    let project = &shop.project;
    for (schema, environment, spent) in [(&one, None, "10.00"), (&two, Some("prod"), "11.00")] {
        shop.over(&format!("{}.purchases", schema.name));
        let mut env = Vec::new();
        env.extend(
            environment
                .map(|name| ["--env", name])
                .into_iter()
                .flatten(),
        );
        project.run(&[&["apply"], &env[..]].concat());
        project.run(&[&["run", "--as-of", "2026-03-01"], &env[..]].concat());
        let asked = [
            "features",
            "--service",
            "spend_v1",
            "--entities",
            "{\"customer_id\": [1, 2]}",
        ];
        let answer = project.json(&[&asked, &env[..]].concat());
        let features = &answer["results"][0]["features"];
        assert_eq!(
            features["spend.amount_lifetime"]["value"], spent,
            "{answer}"
        );
        // An event at as-of itself does not count yet.
        assert_eq!(
            answer["results"][1]["features"]["spend.amount_lifetime"]["state"],
            "missing"
        );
    }
}

#[test]
fn tables_that_do_not_fit_are_told_at_check_and_stop_the_night() {
    let schema = filled(
        "CREATE TABLE purchases (customer_id int8, \"At\" timestamptz, amount float8, spot point);
        CREATE TABLE nulls (customer_id int8, at timestamptz, amount numeric(12,2));
        INSERT INTO nulls VALUES (1, now(), 1), (2, NULL, 1)",
    );
    let Some(schema) = schema else {
        return;
    };
    let shop = Shop::new(&format!("databases: {{ shop: '{}' }}\n", schema.url));
    let project = &shop.project;
    shop.over(&format!("{}.purchases", schema.name));
    let warned = shop.warned();
    let expected = format!(
        "warning: source `purchases`: `shop.{}.purchases`: has no column `at` (it has: customer_id, At, amount, spot); column `amount` is double precision, which does not widen to the declared `decimal(12,2)` without loss: declare it as the table has it, or make a view that casts it\n",
        schema.name
    );
    assert_eq!(warned, expected);
    project.run(&["apply"]);
    let told = project.fail(&["run", "--as-of", "2026-03-01"]);
    assert!(told.contains("has no column `at`"), "{told}");
    shop.over(&format!("{}.nulls", schema.name));
    project.run(&["apply"]);
    let told = project.fail(&["run", "--as-of", "2026-03-01"]);
    let expected = format!(
        "`shop.{}.nulls`: column `at`: the event time is null",
        schema.name
    );
    assert!(told.contains(&expected), "{told}");
    assert_eq!(project.json(&["status"])["served"], Value::Null);
}

#[test]
fn a_database_that_is_not_there_leaves_check_a_warning() {
    let shop = Shop::new("databases: { shop: postgres://reader@127.0.0.1:1/shop }\n");
    let project = &shop.project;
    shop.over("purchases");
    let warned = shop.warned();
    assert!(
        warned.starts_with("warning: source `purchases`: database `shop` does not answer: "),
        "{warned}"
    );
    project.run(&["apply"]);
    let told = project.fail(&["run", "--as-of", "2026-03-01"]);
    assert!(told.contains("database `shop` does not answer"), "{told}");
}
