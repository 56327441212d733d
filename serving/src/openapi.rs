//! The HTTP interface of one release as an OpenAPI 3.1 document, from the plan that answers it.

use feature_defs::about::About;
use feature_defs::data_type::DataType;
use feature_defs::value::Value;
use serde_json::{Map, Value as Json, json};

use crate::config::Limits;
use crate::error::ErrorKind;
use crate::predict::body::Column;
use crate::predict::plan::{ModelPlan, ReleasePlan};
use crate::predict::service_plan::ServicePlan;

/// Refusals that every `POST` documents.
const REFUSALS: [ErrorKind; 8] = [
    ErrorKind::InvalidRequest,
    ErrorKind::UnknownName,
    ErrorKind::SlowBody,
    ErrorKind::AsOfBeforeRelease,
    ErrorKind::TooLarge,
    ErrorKind::Internal,
    ErrorKind::Overloaded,
    ErrorKind::Deadline,
];

/// The document; without a release it has only what every server answers.
pub(crate) fn document(plan: Option<&ReleasePlan>, limits: Limits) -> Json {
    let mut paths = common_paths();
    if let Some(plan) = plan {
        for model in plan.served_models() {
            let path = format!("/v1/predict/{}", model.name);
            paths.insert(path, predict_path(model, plan, limits));
        }
        for service in plan.served_services() {
            let aliases = &plan.definitions().services[&service.name].aliases;
            for name in std::iter::once(&service.name).chain(aliases) {
                let path = format!("/v1/features/{name}");
                paths.insert(path, features_path(service, plan, limits));
            }
        }
    }
    let version = plan.map_or_else(
        || "no release".to_owned(),
        |plan| format!("release {}", plan.release().number),
    );
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Nightfill", "version": version},
        "paths": paths,
        "components": {"schemas": {"Error": error_schema(), "Timings": timings_schema()}},
    })
}

fn common_paths() -> Map<String, Json> {
    let paths = [
        ("/healthz", "The process runs", "application/json"),
        (
            "/readyz",
            "A release is served, and how fresh it is",
            "application/json",
        ),
        ("/metrics", "Prometheus metrics", "text/plain"),
        ("/openapi.json", "This document", "application/json"),
    ];
    let paths = paths.into_iter().map(|(path, summary, media)| {
        let mut responses = json!({"200": {"description": summary, "content": {media: {}}}});
        if path == "/readyz" {
            responses["503"] =
                json!({"description": "No release is served", "content": {media: {}}});
        }
        let get = json!({"get": {"summary": summary, "responses": responses}});
        (path.to_owned(), get)
    });
    paths.collect()
}

fn predict_path(model: &ModelPlan, plan: &ReleasePlan, limits: Limits) -> Json {
    let definitions = plan.definitions();
    let about = &definitions.models[&model.name].about;
    let summary = about
        .description
        .clone()
        .unwrap_or_else(|| format!("Scores of `{}`", model.name));
    let mut request = request_schema(&model.service, limits);
    request["properties"]["explain"] = json!({
        "type": "boolean", "default": false,
        "description": "Answer value, state and age of every feature",
    });
    let score = json!({
        "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}, {"type": "null"}],
        "description": "Null when an input was unavailable",
    });
    let result = json!({
        "type": "object",
        "required": [model.output, "degraded"],
        "properties": {
            model.output.as_str(): score,
            "degraded": degraded_schema(),
            "states": {
                "type": "object",
                "additionalProperties": state_schema(),
                "description": "Features whose state is not `present`; without `explain`",
            },
            "defaulted": {
                "type": "array", "items": {"type": "string"},
                "description": "Features whose default was taken; without `explain`",
            },
            "features": features_schema(&model.service),
            "error": {"type": "string", "description": "Why an input could not be computed"},
        },
    });
    let answer = answer_schema(
        json!({"model": {"const": model.name}, "bundle": {"type": "string"}}),
        result,
    );
    post(&summary, about, request, answer)
}

fn features_path(service: &ServicePlan, plan: &ReleasePlan, limits: Limits) -> Json {
    let about = &plan.definitions().services[&service.name].about;
    let summary = about
        .description
        .clone()
        .unwrap_or_else(|| format!("Features of `{}`", service.name));
    let result = json!({
        "type": "object",
        "required": ["degraded", "features"],
        "properties": {
            "degraded": degraded_schema(),
            "features": features_schema(service),
            "error": {"type": "string", "description": "Why a feature could not be computed"},
        },
    });
    let answer = answer_schema(json!({"service": {"const": service.name}}), result);
    post(&summary, about, request_schema(service, limits), answer)
}

fn post(summary: &str, about: &About, request: Json, answer: Json) -> Json {
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "One result an entity, in the order of the request",
            "headers": {"Server-Timing": {"schema": {"type": "string"}}},
            "content": {"application/json": {"schema": answer}},
        }),
    );
    for refusal in REFUSALS {
        let description = refusal.code().replace('_', " ");
        let schema = json!({"$ref": "#/components/schemas/Error"});
        responses.insert(
            refusal.status().as_str().to_owned(),
            json!({"description": description, "content": {"application/json": {"schema": schema}}}),
        );
    }
    let mut post = json!({
        "summary": summary,
        "requestBody": {"required": true, "content": {"application/json": {"schema": request}}},
        "responses": responses,
    });
    if let Some(why) = &about.deprecated {
        post["deprecated"] = true.into();
        post["description"] = format!("Deprecated: {}", why.trim()).into();
    }
    if !about.tags.is_empty() {
        post["tags"] = json!(about.tags);
    }
    json!({ "post": post })
}

fn request_schema(service: &ServicePlan, limits: Limits) -> Json {
    let mut required = Vec::new();
    if !service.keys.is_empty() {
        required.push("entities");
    }
    if service.fields.iter().any(|field| field.default.is_none()) {
        required.push("request");
    }
    json!({
        "type": "object",
        "required": required,
        "additionalProperties": false,
        "properties": {
            "entities": columns_schema(&service.keys, true, limits),
            "request": columns_schema(&service.fields, false, limits),
            "as_of": {
                "type": ["string", "null"], "format": "date-time",
                "description": "The instant to look from, not before the release; now when left out",
            },
        },
    })
}

fn columns_schema(columns: &[Column], extra: bool, limits: Limits) -> Json {
    let required: Vec<&str> = columns
        .iter()
        .filter(|column| column.default.is_none())
        .map(|column| column.name.as_str())
        .collect();
    let properties: Map<String, Json> = columns
        .iter()
        .map(|column| {
            let items = value_schema(column.data_type, column.nullable);
            let mut schema = json!({"type": "array", "items": items, "maxItems": limits.entities});
            if let Some(default) = &column.default {
                let shown = plain_json(default, column.data_type);
                schema["description"] = json!(format!("{shown} for each entity when left out"));
            }
            (column.name.to_string(), schema)
        })
        .collect();
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": extra,
        "description": "One array a name, one value an entity",
    })
}

fn answer_schema(head: Json, result: Json) -> Json {
    let mut schema = json!({
        "type": "object",
        "required": ["release", "as_of", "results", "timings"],
        "properties": {
            "release": {"type": "integer"},
            "as_of": {"type": "string", "format": "date-time"},
            "results": {"type": "array", "items": result},
            "timings": {"$ref": "#/components/schemas/Timings"},
        },
    });
    if let Json::Object(head) = head {
        for (name, about) in head {
            schema["properties"][name] = about;
        }
    }
    schema
}

fn features_schema(service: &ServicePlan) -> Json {
    let features = service.features.iter().map(|feature| {
        let mut properties = json!({
            "value": value_schema(feature.data_type, true),
            "state": state_schema(),
            "age": {"type": "string", "description": "Since the row's event time, like `2h11m`"},
        });
        if let Some(default) = &feature.default {
            let shown = plain_json(default, feature.data_type);
            properties["defaulted"] = json!({
                "const": true,
                "description": format!("{shown} was taken, the row being missing or expired"),
            });
        }
        let schema = json!({
            "type": "object", "required": ["value", "state"], "properties": properties,
        });
        (feature.name.clone(), schema)
    });
    let features: Map<String, Json> = features.collect();
    json!({"type": "object", "properties": features})
}

fn value_schema(data_type: DataType, nullable: bool) -> Json {
    let special = json!({"enum": ["NaN", "Infinity", "-Infinity"]});
    let schema = match data_type {
        DataType::Bool => json!({"type": "boolean"}),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            json!({"anyOf": [{"type": "number"}, special]})
        }
        DataType::Decimal { .. } => json!({
            "anyOf": [{"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$"}, {"type": "number"}],
            "description": data_type.to_string(),
        }),
        DataType::String => json!({"type": "string"}),
        DataType::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        DataType::List(element) => json!({"type": "array", "items": value_schema(*element, true)}),
        DataType::Vector { element, length } => json!({
            "type": "array", "items": value_schema(*element, false),
            "minItems": length, "maxItems": length,
        }),
        DataType::Struct(of) => {
            let fields = of.fields.iter();
            let fields =
                fields.map(|field| (field.name.clone(), value_schema(field.data_type, true)));
            json!({
                "type": "object", "properties": fields.collect::<Map<_, _>>(),
                "additionalProperties": false,
            })
        }
        DataType::Uuid => json!({"type": "string", "format": "uuid"}),
        DataType::Date => json!({"type": "string", "format": "date"}),
        DataType::Timestamp => json!({"type": "string", "format": "date-time"}),
        DataType::Int64 | DataType::UInt64 => json!({
            "anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"}],
            "description": data_type.to_string(),
        }),
        integer => json!({"type": "integer", "description": integer.to_string()}),
    };
    if nullable {
        json!({"anyOf": [schema, {"type": "null"}]})
    } else {
        schema
    }
}

fn plain_json(value: &Value, data_type: DataType) -> String {
    let mut text = Vec::new();
    value.write_json(data_type, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn degraded_schema() -> Json {
    json!({
        "type": "array", "items": {"type": "string"},
        "description": "Views whose row is expired, unavailable, or missing without defaults",
    })
}

fn state_schema() -> Json {
    json!({"enum": ["present", "null", "missing", "expired", "unavailable"]})
}

fn timings_schema() -> Json {
    json!({
        "type": "object", "additionalProperties": {"type": "number"},
        "description": "Microseconds of each step",
    })
}

fn error_schema() -> Json {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {"error": {
            "type": "object",
            "required": ["code", "message", "path"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "path": {"type": ["string", "null"], "description": "Where in the body"},
            },
        }},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_vectors_and_structs_are_arrays_and_objects() {
        let schema = |text| value_schema(DataType::parse(text).expect(text), false);
        let or_null = |schema| json!({"anyOf": [schema, {"type": "null"}]});
        let text = json!({"type": "string"});
        assert_eq!(
            schema("list<string>"),
            json!({"type": "array", "items": or_null(text.clone())})
        );
        assert_eq!(
            schema("struct<name: string, id: uuid>"),
            json!({
                "type": "object",
                "properties": {
                    "name": or_null(text),
                    "id": or_null(json!({"type": "string", "format": "uuid"})),
                },
                "additionalProperties": false,
            })
        );
        let vector = schema("vector<float32, 3>");
        assert_eq!(
            (&vector["minItems"], &vector["maxItems"]),
            (&json!(3), &json!(3))
        );
        assert_eq!(vector["items"], schema("float32"));
    }
}
