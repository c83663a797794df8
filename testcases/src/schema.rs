//! JSON Schema of a file of test cases, so that an editor completes keys and underlines what a run would refuse.

use crate::read::{INTERVALS, PREDICTIONS, QUEUE_PAIRS};
use crate::{DeviceVerb, MacsecMode, Memory, PfcOdd, Takes, Tap, Target, Verb, Vocabulary};
use rig_lab::Kind;
use rig_lab::schema::{DRAFT, families, settings};
use rig_units::{Bytes, Dur, L2Rate, Length, PortSpeed, Ppm, Quanta, Rate};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

mod ends;
mod measure;
mod worth;

/// The schema of a file of test cases.
pub fn schema(vocabulary: &dyn Vocabulary) -> Value {
    let mut defs = settings();
    let mut define = |name: &str, schema: Value| defs.insert(name.to_owned(), schema);
    define("duration", of::<Dur>());
    define("name", json!({ "type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$" }));
    define(
        "port",
        json!({ "type": "string", "pattern": "^p[1-9][0-9]{0,2}$", "description": "a rig port: p1 is cabled to the device's first port" }),
    );
    define("class", json!({ "type": "integer", "minimum": 0, "maximum": 7 }));
    define("classes", list("class"));
    define("ports", one_or_many("port"));
    define("names", one_or_many("name"));
    define("amount", amount());
    define("stream", stream());
    define("to_nic", to_nic());
    define("flow", flow());
    define("injection", injection());
    define("app", app());
    define("between", between());
    define("storm", storm());
    define("endpoint", endpoint());
    define("step", step());
    define("measure", measure::measure(vocabulary));
    define("sweep", sweep());
    define("dut", dut(&defs_of("settings")));
    define("found", found());
    define("setup", setup());
    define("case", case());
    json!({
        "$schema": DRAFT,
        "title": "Test cases of rigctl",
        "type": "object",
        "required": ["about", "device", "cases"],
        "additionalProperties": false,
        "properties": {
            "about": line("one line for people"),
            "device": { "enum": Kind::NAMES.map(|(name, _)| name) },
            "covers": worth::covers(),
            "setup": to("setup"),
            "cases": by_name("case"),
        },
        "$defs": defs,
    })
}

fn of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().subschema_for::<T>().to_value()
}

fn defs_of(name: &str) -> Value {
    settings().remove(name).unwrap_or_default()
}

fn to(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn list(name: &str) -> Value {
    json!({ "type": "array", "items": to(name) })
}

fn one_or_many(name: &str) -> Value {
    json!({ "anyOf": [to(name), list(name)] })
}

fn line(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn by_name(name: &str) -> Value {
    json!({ "type": "object", "propertyNames": to("name"), "additionalProperties": to(name) })
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    })
}

fn amount() -> Value {
    let affine = object(
        &json!({
            "of": { "anyOf": [{ "enum": PREDICTIONS }, { "type": "string" }] },
            "times": { "type": "number", "minimum": 0 },
            "plus": to("duration"),
            "minus": to("duration"),
        }),
        &["of"],
    );
    json!({
        "description": "a length of time: 200ms, a swept variable, or {of: pfcwd.detection_time, times: 0.5, plus: 10ms}",
        "anyOf": [to("duration"), to("name"), affine],
    })
}

/// Nothing is required: a case may change single fields of what the setup defines.
fn stream() -> Value {
    let properties = json!({
        "from": to("ports"),
        "to": to("ports"),
        "class": to("class"),
        "kind": { "enum": ["rocev2-write", "rocev2-send", "udp"] },
        "color": { "enum": ["green", "yellow", "red"] },
        "ecn": { "enum": ["ect0", "ect1", "not-ect", "ce"] },
        "size": of::<Bytes>(),
        "vlan": vlan(),
        "over": ends::over(),
        "every": to("duration"),
        "rate": of::<Rate>(),
        "count": {
            "description": "frames after which it ends; `searched`: a measure searches their number",
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "enum": ["searched"] }],
        },
        "macsec": macsec_mode(),
    });
    object(&properties, &[])
}

/// The 802.1Q tag of a stream's frames, or of those of a flow's connection.
fn vlan() -> Value {
    let number =
        |least: u16, most: u16| json!({ "type": "integer", "minimum": least, "maximum": most });
    let mut tag = object(&json!({ "id": number(1, 4094), "pcp": number(0, 7) }), &["id", "pcp"]);
    tag["description"] = json!("an 802.1Q tag; the size of the frame counts its four bytes");
    tag
}

/// What a stream to a NIC has as any other has it.
const TO_NIC: [&str; 9] =
    ["from", "class", "kind", "ecn", "size", "over", "every", "rate", "count"];

/// What the rig sends to a NIC: of a file for NICs alone.
fn to_nic() -> Value {
    let mut stream = stream();
    if let Some(properties) = stream["properties"].as_object_mut() {
        properties.retain(|key, _| TO_NIC.contains(&key.as_str()));
        properties["kind"] = json!({ "enum": ["rocev2-write", "rocev2-send", "cnp"] });
        properties["count"] = json!({ "type": "integer", "minimum": 1 });
        properties.insert("psn".to_owned(), psn());
        properties.insert("of".to_owned(), to("name"));
        properties.insert("address".to_owned(), ends::address());
        properties.insert("gid".to_owned(), ends::gid());
    }
    stream["description"] =
        json!("to the NIC behind the port; `of`, with `kind: cnp`, is the flow to slow down");
    stream
}

fn streams() -> Value {
    let either = json!({ "anyOf": [to("stream"), to("to_nic")] });
    json!({ "type": "object", "propertyNames": to("name"), "additionalProperties": either })
}

fn psn() -> Value {
    json!({
        "description": "to a NIC: the packet sequence number of the first packet; by default 0",
        "type": "integer", "minimum": 0, "maximum": 0xff_ffff,
    })
}

/// What a NIC sends. Nothing is required: a case may change single fields of what the setup defines.
fn flow() -> Value {
    let properties = json!({
        "nic": to("ports"),
        "to": to("port"),
        "class": to("class"),
        "verb": { "enum": Verb::NAMES.map(|(name, _)| name) },
        "message": of::<Bytes>(),
        "mtu": of::<Bytes>(),
        "count": { "type": "integer", "minimum": 1 },
        "psn": psn(),
        "address": ends::address(),
        "vlan": vlan(),
        "over": ends::over(),
        "gid": gids(),
        "container": container(),
        "queue_pairs": {
            "description": "how many queue pairs do the same, each a flow of its own: NAME-1, NAME-2, ...",
            "type": "integer", "minimum": 1, "maximum": QUEUE_PAIRS,
        },
    });
    object(&properties, &[])
}

/// Whose flow it is, where containers share a NIC behind a software RDMA router.
fn container() -> Value {
    let mut properties = json!({
        "number": { "description": "its number; 1 is the usual one", "type": "integer", "minimum": 1, "maximum": 255 },
        "memory": { "enum": Memory::NAMES.map(|(name, _)| name) },
        "cap": of::<L2Rate>(),
        "takes_over": { "type": "string" },
    });
    properties["takes_over"]["description"] =
        json!("the flow whose messages it goes on with once its container has moved");
    object(&properties, &[])
}

/// The GID of both NICs of a connection, or of each.
fn gids() -> Value {
    let of_each = json!({ "from": ends::gid(), "to": ends::gid() });
    json!({ "anyOf": [ends::gid(), object(&of_each, &[])] })
}

/// What an application above two NICs does. Nothing is required, as of flows.
fn app() -> Value {
    let step = object(
        &json!({
            "flow": to("name"),
            "think": to("duration"),
            "buffers": { "description": "so many registered buffers, of which a round takes one with this step until it is over", "type": "integer", "minimum": 1, "maximum": 1_000_000 },
            "chunks": { "description": "so many messages, each once the one before it is complete, or the one `at_once` before it", "type": "integer", "minimum": 1, "maximum": 65_536 },
            "at_once": { "description": "so many of its messages may be under way", "type": "integer", "minimum": 1, "maximum": 65_536 },
            "checksum": { "description": "whoever gets the data looks at their checksum", "type": "boolean" },
        }),
        &["flow"],
    );
    let steps = json!({
        "description": "flows in the order of their messages: a step begins once the one before it is complete",
        "type": "array", "minItems": 1, "maxItems": 16,
        "items": { "anyOf": [to("name"), step] },
    });
    let number = |about: &str| json!({ "description": about, "type": "integer", "minimum": 1, "maximum": 1_000_000 });
    let properties = json!({
        "steps": steps,
        "rounds": number("how many times all steps are done"),
        "credits": number("how many rounds may have begun that are not over; by default 1"),
        "queue_pairs": { "description": "one for all steps, or one for each, which is the default", "enum": ["each", "one"] },
    });
    object(&properties, &[])
}

/// The rig between two NICs.
fn between() -> Value {
    let depth = |description: &str| {
        let mut depth = of::<Bytes>();
        depth["description"] = json!(description);
        depth
    };
    let mut bottleneck = object(
        &json!({
            "to": to("port"),
            "speed": of::<PortSpeed>(),
            "kmin": depth("the depth from which on data may be marked"),
            "kmax": depth("the depth from which on all data is marked"),
            "pmax": of::<Ppm>(),
            "buffer": depth("what may wait; the rest is lost"),
        }),
        &["to", "speed", "kmin", "kmax", "pmax", "buffer"],
    );
    bottleneck["description"] =
        json!("a queue on the way to one of the NICs, slower than its port");
    let properties = json!({
        "delay": to("duration"),
        "inject": list("injection"),
        "bottleneck": bottleneck,
    });
    object(&properties, &[])
}

fn injection() -> Value {
    let number = |from: u32| json!({ "type": "integer", "minimum": from });
    let tamper = json!({ "anyOf": [
        { "enum": ["ce", "drop", "duplicate", "bad-icrc", "bad-key", "rocev2", "blue-rdma"] },
        object(&json!({ "delay": to("duration") }), &["delay"]),
        object(&json!({ "behind": number(1) }), &["behind"]),
        object(&json!({ "rnr": { "type": "integer", "minimum": 0, "maximum": 31 } }), &["rnr"]),
    ] });
    let properties = json!({
        "on": to("name"),
        "frames": { "enum": Target::NAMES.map(|(name, _)| name) },
        "psn": number(0),
        "nth": number(1),
        "every": { "anyOf": [number(1), to("duration")] },
        "during": to("duration"),
        "chance": of::<Ppm>(),
        "run": number(1),
        "iteration": number(1),
        "do": tamper,
    });
    object(&properties, &["on", "frames", "do"])
}

fn storm() -> Value {
    let properties = json!({
        "from": to("ports"),
        "classes": to("classes"),
        "quanta": of::<Quanta>(),
        "refresh": { "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?x$", "description": "time between two frames, as a share of the pause time: 0.5x" },
        "every": to("duration"),
        "macsec": macsec_mode(),
    });
    object(&properties, &[])
}

fn macsec_mode() -> Value {
    json!({
        "description": "how its frames are protected, where the device speaks MACsec; `usual`: as the peer of the device would",
        "anyOf": [
            { "enum": MacsecMode::NAMES.map(|(name, _)| name) },
            object(&json!({ "late": { "type": "integer", "minimum": 1 } }), &["late"]),
            object(&json!({ "an": { "type": "integer", "minimum": 0, "maximum": 3 } }), &["an"]),
        ],
    })
}

fn step() -> Value {
    let frames = object(
        &json!({
            "from": to("port"),
            "classes": to("classes"),
            "quanta": of::<Quanta>(),
            "count": { "type": "integer", "minimum": 1 },
            "every": to("duration"),
            "macsec": macsec_mode(),
            "odd": {
                "description": "by which address it is odd, of one frame, `to-all` to a NIC alone; by default by none",
                "enum": PfcOdd::NAMES.map(|(name, _)| name),
            },
        }),
        &["from", "classes", "quanta"],
    );
    let mut properties = json!({
        "at": to("amount"),
        "for": to("amount"),
        "start": to("names"),
        "stop": to("names"),
        "pfc": frames,
        "link_down": to("port"),
        "configure": to("settings"),
    });
    for (key, about) in DeviceVerb::KEYS {
        let words: Vec<&str> = DeviceVerb::words(key).into_iter().map(|(word, _)| word).collect();
        properties[key] = json!({ "description": about, "enum": words });
    }
    object(&properties, &["at"])
}

fn sweep() -> Value {
    let some = |items: &Value| json!({ "type": "array", "minItems": 1, "items": items });
    let across = object(
        &json!({ "across": { "enum": INTERVALS }, "points": { "type": "integer", "minimum": 2, "maximum": 1000 } }),
        &["across", "points"],
    );
    json!({
        "type": "object",
        "description": "settings (`dut.pfcwd.detection_time: [...]`), frame sizes (`streams.load.size: [...]`), the bench or variables",
        "properties": { "cable": some(&of::<Length>()), "speed": some(&of::<PortSpeed>()) },
        "patternProperties": {
            r"^dut\.": { "type": "array", "minItems": 1 },
            r"^streams\..*\.size$": some(&of::<Bytes>()),
        },
        "additionalProperties": { "anyOf": [list("amount"), across] },
    })
}

fn dut(settings: &Value) -> Value {
    let mut dut = settings.clone();
    let family = json!({ "enum": families() });
    dut["properties"]["rule_family"] =
        json!({ "anyOf": [family, { "type": "array", "minItems": 1, "items": family }] });
    dut["description"] =
        json!("what the device must be; several rule families make one case of each");
    dut
}

/// What may be found in place of what is set, in the form of `dut:`.
fn found() -> Value {
    let below = json!({ "type": "object", "additionalProperties": to("found") });
    let end = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] });
    let mut range = object(&json!({ "min": end, "max": end }), &[]);
    range["minProperties"] = json!(1);
    json!({
        "description": "settings of `dut:` or `sweep:` that may be as they are found, where nobody can configure the device: any; in-proportion, and lengths of time or numbers of frames of the case change with it; a range; as-set, whatever the setup says",
        "anyOf": [{ "enum": ["any", "in-proportion", "as-set"] }, range, below],
    })
}

fn setup() -> Value {
    let properties = json!({
        "dut": to("dut"),
        "found": to("found"),
        "ports": ports(),
        "streams": streams(),
        "flows": by_name("flow"),
        "apps": by_name("app"),
        "between": to("between"),
        "storms": by_name("storm"),
        "endpoints": by_port(&to("endpoint")),
        "taps": by_port(&taps()),
    });
    object(&properties, &[])
}

/// Nothing is required: a case may change single fields of what the setup says.
fn endpoint() -> Value {
    let obeys = json!({
        "description": "the classes whose PFC this port obeys; by default all",
        "anyOf": [{ "enum": ["all", "none"] }, to("classes")],
    });
    let response = json!({
        "description": "what its MAC takes to react to PFC: 60q, 400ns or a swept variable; by default nothing",
        "anyOf": [of::<Quanta>(), to("duration"), to("name")],
    });
    let pfc = json!({
        "description": "the forms of PFC that it obeys, where the device speaks MACsec; by default either",
        "enum": Takes::NAMES.map(|(name, _)| name),
    });
    let pn = json!({
        "description": "the packet number of the first frame that it protects; by default 1",
        "type": "integer", "minimum": 1, "maximum": u32::MAX,
    });
    object(&json!({ "obeys": obeys, "response": response, "pfc": pfc, "pn": pn }), &[])
}

fn taps() -> Value {
    json!({
        "description": "what is recorded at this port; by default sampled: PFC and probes, and of loads a sample",
        "enum": Tap::NAMES.map(|(name, _)| name),
    })
}

fn by_port(value: &Value) -> Value {
    json!({ "type": "object", "propertyNames": to("port"), "additionalProperties": value })
}

fn ports() -> Value {
    by_port(&json!({ "enum": ["fast", "slow"] }))
}

fn case() -> Value {
    let inconclusive = object(
        &json!({ "verdict": { "const": "inconclusive" }, "reason": { "enum": ["storm-lapse"] } }),
        &["verdict", "reason"],
    );
    let properties = json!({
        "why": line("why a lab cares, in one line"),
        "source": { "type": "array", "minItems": 1, "items": line("where it comes from") },
        "dut": to("dut"),
        "found": to("found"),
        "configure": one_or_many("settings"),
        "ports": ports(),
        "streams": streams(),
        "flows": by_name("flow"),
        "apps": by_name("app"),
        "between": to("between"),
        "storms": by_name("storm"),
        "endpoints": by_port(&to("endpoint")),
        "taps": by_port(&taps()),
        "sweep": to("sweep"),
        "steps": list("step"),
        "length": to("amount"),
        "trials": { "type": "integer", "minimum": 1, "maximum": 100_000 },
        "over": {
            "description": "the kind of device that must be among those of the system",
            "enum": Kind::passing().map(|(name, _)| name).collect::<Vec<_>>(),
        },
        "measure": list("measure"),
        "expect": { "anyOf": [{ "enum": ["rejected", "accepted"] }, inconclusive] },
        "kills": worth::kills(),
    });
    object(&properties, &["why", "source"])
}
