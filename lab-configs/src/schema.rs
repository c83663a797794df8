//! JSON Schema of labs, profiles and settings, so that an editor completes keys and underlines what a run would refuse.

use crate::declare::NO_RULE;
use crate::fields::{self, Fieldset};
use crate::read::TRANSPORTS;
use crate::{
    Backend, ControlName, Declared, ExchangeWay, IpVersion, Kind, OtherEnd, Profile, RuleFamily,
};
use rig_units::{Dur, Length, PortSpeed, Ppm, limits};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The schema of a lab file.
pub fn schema_lab() -> Value {
    let cable = SchemaSettings::draft2020_12().into_generator().subschema_for::<Length>();
    let control = json!({
        "enum": ControlName::NAMES.map(|(word, _)| word),
        "description": "through what the device is steered and read; usually `served` where the rig has made it, `none` at interfaces, \
            `perftest` at a NIC in a guest, `linux` at a switch there; `sonic` at interfaces, with `redis`, and as a stand-in at virtual ones",
    });
    let redis = json!({
        "type": "string",
        "description": "where the redis of a switch with SONiC listens: unix:PATH, tcp:HOST:PORT or ssh:USER@HOST; of the control `sonic` at interfaces alone",
    });
    let disposable = json!({
        "type": "boolean",
        "description": "whether the ports of a live switch may take storms of PFC and be taken down; of the control `sonic` alone, false unless it is said",
    });
    let device = |key: &str, files: &Value| {
        json!({
            "type": "object",
            "required": [key],
            "additionalProperties": false,
            "properties": {
                key: files,
                "control": control,
                "redis": redis,
                "disposable": disposable,
            },
        })
    };
    let file = json!({ "type": "string" });
    let pair = json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": file });
    let device = json!([file, device("profile", &file), device("pair", &pair), system()]);
    json!({
        "$schema": DRAFT,
        "title": "A lab of rigctl",
        "type": "object",
        "required": ["about", "transport", "cable", "duts"],
        "additionalProperties": false,
        "properties": {
            "about": { "type": "string", "description": "one line for people" },
            "transport": {
                "enum": TRANSPORTS.map(|(word, _)| word),
                "description": "what carries frames to the devices: nothing, in virtual time in this process; virtual \
                    interfaces, to processes in real time; the rig's own interfaces, to whatever is cabled there; or a tap to Linux \
                    in a virtual machine",
            },
            "cable": cable,
            "wire": wire(),
            "macsec": macsec(),
            "duts": {
                "type": "array",
                "minItems": 1,
                "items": { "anyOf": device },
                "description": "files of DUT profiles, relative to this one; pairs of NICs, each behind a port; or systems of \
                    several switches",
            },
        },
    })
}

/// Several switches that are one device under test.
fn system() -> Value {
    let length = SchemaSettings::draft2020_12().into_generator().subschema_for::<Length>();
    let end = json!({ "type": "string", "description": "a device and its port: near/Ethernet0" });
    let pair = json!({
        "type": "object",
        "required": ["pair"],
        "additionalProperties": false,
        "properties": { "pair": { "type": "array", "minItems": 2, "maxItems": 2, "items": { "type": "string" } } },
    });
    let link = json!({
        "type": "object",
        "required": ["from", "to"],
        "additionalProperties": false,
        "properties": { "from": end, "to": end, "length": length },
    });
    json!({
        "type": "object",
        "required": ["system", "about", "devices", "links", "ports"],
        "additionalProperties": false,
        "properties": {
            "system": { "type": "string", "description": "its name" },
            "about": { "type": "string", "description": "one line for people" },
            "devices": {
                "type": "object",
                "minProperties": 2,
                "maxProperties": limits::SYSTEM,
                "additionalProperties": { "anyOf": [{ "type": "string" }, pair] },
                "description": "files of profiles, or pairs of NICs, by the names that they have here",
            },
            "links": {
                "type": "array",
                "items": link,
                "description": "cables between them; one without a length is as long as those to the rig",
            },
            "ports": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": end,
                "description": "what p1, p2 and so on are cabled to",
            },
        },
    })
}

/// The keys of a lab.
fn macsec() -> Value {
    let digits = |pattern: &str| json!({ "type": "string", "pattern": pattern });
    let key = digits("^([0-9a-fA-F]{32}|[0-9a-fA-F]{64})$");
    json!({
        "type": "object",
        "description": "what its ports and the device share for MACsec",
        "required": ["keys", "salt"],
        "additionalProperties": false,
        "properties": {
            "keys": {
                "description": "the secure association key of each association number, in hexadecimal digits",
                "type": "array", "minItems": 4, "maxItems": 4, "items": key,
            },
            "salt": digits("^[0-9a-fA-F]{24}$"),
        },
    })
}

/// A wire to the NIC of a server, or to one of each of two.
fn server(dur: &Value) -> Value {
    const NEEDED: [&str; 3] = ["interface", "address", "device"];
    let end = json!({
        "interface": { "type": "string", "description": "the rig's interface in front of the NIC" },
        "address": {
            "type": "string",
            "format": "ipv4",
            "description": "that of the rig's interface, in one network with the NIC's; with `other` that of the NIC",
        },
        "address_v6": {
            "type": "string",
            "format": "ipv6",
            "description": "the same of IPv6: flows go over that then",
        },
        "ssh": {
            "type": "string",
            "description": "the server, as ssh knows it; without it the NIC is this machine's own",
        },
        "device": { "type": "string", "description": "the RDMA device there" },
        "port": { "type": "integer", "minimum": 1, "maximum": 255 },
        "gid": {
            "type": "integer",
            "minimum": 0,
            "maximum": 65_535,
            "description": "the index of the GID of RoCE v2 that its flows go by; without it the one nearest to the address at their other end",
        },
    });
    let mut whole = end.clone();
    whole["other"] = json!({
        "type": "object",
        "description": "the NIC at the other end of its flows, with the rig between the two",
        "required": NEEDED,
        "additionalProperties": false,
        "properties": end,
    });
    ["bound", "trial", "budget"].into_iter().for_each(|key| whole[key] = dur.clone());
    json!({
        "type": "object",
        "description": "transport server",
        "required": NEEDED.into_iter().chain(["bound", "budget"]).collect::<Vec<_>>(),
        "additionalProperties": false,
        "properties": whole,
    })
}

/// What a lab says of its wire, for each transport that has one.
fn wire() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let speed = generator.subschema_for::<PortSpeed>();
    let dur = generator.subschema_for::<Dur>();
    let count = |from: u64| json!({ "type": "integer", "minimum": from, "maximum": 64 });
    json!({ "anyOf": [
        {
            "type": "object",
            "description": "transport virtual: as far off as this stamps are taken to be, as in the lab that is rehearsed",
            "required": ["bound"],
            "additionalProperties": false,
            "properties": { "bound": dur },
        },
        {
            "type": "object",
            "description": "transport veth",
            "required": ["speed", "ports", "bound", "budget"],
            "additionalProperties": false,
            "properties": {
                "speed": speed,
                "ports": count(1),
                "bound": dur,
                "benches": count(1),
                "budget": dur,
            },
        },
        {
            "type": "object",
            "description": "transport guests",
            "required": ["bound", "budget"],
            "additionalProperties": false,
            "properties": {
                "bound": dur,
                "wait": dur,
                "makes_up": dur,
                "trial": dur,
                "budget": dur,
                "prepare": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "what is done in the guest once it is up: lines for its shell",
                },
                "other_end": {
                    "enum": OtherEnd::NAMES.map(|(word, _)| word),
                    "description": "who is at the other end of a NIC's connections: the rig's own responder, or a second guest \
                        with the rig between the two",
                },
                "prepare_other": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "other_end guest: what is done in that guest once it is up",
                },
                "exchange": {
                    "enum": ExchangeWay::NAMES.map(|(word, _)| word),
                    "description": "other_end guest: how the two programs find each other, through the rig, which hears what they agree \
                        on, or by a line beside it, so that it learns the connections from their first packets",
                },
                "over": {
                    "enum": IpVersion::NAMES.map(|(word, _)| word),
                    "description": "what the flows of a NIC go over",
                },
            },
        },
        server(dur.as_value()),
        {
            "type": "object",
            "description": "transport interfaces",
            "required": ["interfaces", "bound", "budget"],
            "additionalProperties": false,
            "properties": {
                "interfaces": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                "backend": { "enum": Backend::NAMES.map(|(word, _)| word) },
                "eal": {
                    "type": "array",
                    "items": { "type": ["string", "integer"] },
                    "description": "backend dpdk: the arguments of DPDK's environment, one each",
                },
                "shim": {
                    "type": "string",
                    "description": "backend dpdk: the shim's file, relative to this one, instead of the one that is \
                        found",
                },
                "speed": speed,
                "bound": dur,
                "clock": generator.subschema_for::<Ppm>(),
                "budget": dur,
            },
        },
    ] })
}

/// The schema of a DUT profile.
pub fn schema_dut() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Profile>().to_value();
    schema["title"] = json!("A DUT profile of rigctl");
    may_be_unset(&mut schema);
    by_kind(&mut schema);
    schema
}

/// A device has the parts of its kind with all that the rows of their fields ask for; one that extends another has them already.
fn by_kind(schema: &mut Value) {
    for part in fields::SECTIONS.iter().filter(|part| !part.path.is_empty()) {
        schema["$defs"].get_mut(definition(part)).into_iter().for_each(require_nothing);
    }
    require_nothing(&mut schema["$defs"]["Declared"]);
    let each = Kind::OF_PROFILES.iter().map(|&(name, kind)| {
        let rule = kind.is_guarded().then_some("rule");
        json!({
            "if": { "required": ["kind"], "properties": { "kind": { "const": name } } },
            "then": {
                "required": rule.as_slice(),
                "properties": { "declared": needed(kind, "") },
            },
        })
    });
    schema["else"] =
        json!({ "required": schema["required"].take(), "allOf": each.collect::<Vec<_>>() });
    schema["if"] = json!({ "required": ["extends"] });
    schema["required"] = json!(["name", "about"]);
    let rule = schema["properties"]["rule"].take();
    schema["properties"]["rule"] = json!({ "anyOf": [rule, { "const": NO_RULE }] });
    schema["properties"]["extends"] = json!({
        "type": "string",
        "description": "a profile beside this one, or a bundled one, without `.yaml`: what is left out here is as it says",
    });
}

/// The keys that must stand at `path`, and those that must stand below each of them, as the reader asks for them.
fn needed(kind: Kind, path: &str) -> Value {
    let (mut required, mut below) = (Vec::new(), Map::new());
    for key in fields::keys(Some(kind), path) {
        let path = fields::join(path, key);
        required.extend(fields::must_be(&path).map(|_| key));
        let within = needed(kind, &path);
        below.extend((within != json!({})).then(|| (key.to_owned(), within)));
    }
    let all = [("required", json!(required)), ("properties", json!(below))];
    let said = all.into_iter().filter(|(_, what)| *what != json!([]) && *what != json!({}));
    said.map(|(key, what)| (key.to_owned(), what)).collect::<Map<_, _>>().into()
}

/// The draft that all schemas follow.
pub const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The definitions of settings below `declared:`, none of them required, as a `dut:` block of a case uses them. The
/// whole is called `settings`; dotted paths are keys, too.
pub fn settings() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let _reference = generator.subschema_for::<Declared>();
    let mut root = json!({ "$defs": generator.take_definitions(true) });
    may_be_unset(&mut root);
    let Some(Value::Object(mut defs)) = root.get_mut("$defs").map(Value::take) else {
        return Map::new();
    };
    let mut settings = defs.remove("Declared").unwrap_or_default();
    defs.values_mut().chain([&mut settings]).for_each(require_nothing);
    settings["patternProperties"] = json!({ DOTTED: {} });
    settings["description"] =
        json!("settings, in the form of a profile's `declared:` or as dotted paths");
    defs.insert("settings".to_owned(), settings);
    defs
}

/// A dotted path below `declared:`.
const DOTTED: &str = r"^[a-z_]+(\.[a-z_]+)+$";

/// The names of rule families.
pub fn families() -> Value {
    RuleFamily::NAMES.map(|(name, _)| name).to_vec().into()
}

/// An optional value is unset by `never`.
fn may_be_unset(schema: &mut Value) {
    for section in fields::SECTIONS {
        for field in section.fields.iter().filter(|field| field.is_optional()) {
            let at = format!("/$defs/{}/properties/{}", definition(section), field.name);
            if let Some(value) = schema.pointer_mut(&at) {
                let set = value.take();
                *value = json!({ "anyOf": [set, { "enum": ["never", null] }] });
            }
        }
    }
}

/// The name of a part's definition: that of its type, `Pfcwd` for `pfcwd`, `Np` for `nic.np`, `RdmaRouter` for
/// `rdma_router` and `NicPfc` for `nic.pfc`.
fn definition(section: &Fieldset) -> String {
    let word = |word: &str| {
        let mut word = word.to_owned();
        if let Some(first) = word.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        word
    };
    let title = |name: &str| -> String { name.split('_').map(word).collect() };
    // The fields that stand there themselves are those of every kind in one mapping.
    if section.path.is_empty() {
        return "Declared".to_owned();
    }
    match section.path.rsplit_once('.') {
        // What a switch has under that name is another type.
        Some((_, name)) if fields::SECTIONS.iter().any(|other| other.path == name) => {
            format!("Nic{}", title(name))
        }
        Some((_, name)) => title(name),
        None => title(section.path),
    }
}

fn require_nothing(schema: &mut Value) {
    if let Value::Object(fields) = schema {
        fields.remove("required");
        fields.remove("default");
    }
}
