//! Which packet memory a frame takes of a device that has several, by its pipe: the ports in their order, cut into equal parts.

use crate::{Buffer, Switch};
use rig_units::Bytes;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which memory the frames of each pipe take: a pipe for each memory, in order, or for each pipe the number of its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memories {
    /// So many pipes, each with a memory of its own.
    Each(u16),
    /// The memory of each pipe, from 0 on.
    Pipes(Vec<u16>),
}

impl Memories {
    /// More than so many, by both sides together, no source tells of. The smaller a part is the more does of a case not fit into it.
    pub const MOST: u16 = 4;
    const WANT: &str = "2 to 4 memories, of as many equal parts of the ports, or for each of up to 512 such parts (pipes) the number of its memory, \
         from 0 on and none left out: 2, or [0, 1, 1, 0]";

    /// How many there are.
    pub(crate) fn sides(&self) -> u16 {
        match self {
            Memories::Each(count) => *count,
            Memories::Pipes(pipes) => pipes.iter().max().map_or(1, |last| last.saturating_add(1)),
        }
    }

    /// Into how many parts the ports are cut.
    pub(crate) fn pipes(&self) -> usize {
        match self {
            Memories::Each(count) => usize::from(*count),
            Memories::Pipes(pipes) => pipes.len(),
        }
    }

    /// That of a port, counted from 0, of a device with so many.
    fn side(&self, port: u16, ports: u16) -> u16 {
        let pipe = usize::from(port) * self.pipes() / usize::from(ports.max(1));
        match self {
            Memories::Each(_) => u16::try_from(pipe).unwrap_or(u16::MAX),
            Memories::Pipes(pipes) => pipes.get(pipe).copied().unwrap_or(0),
        }
    }

    fn is_right(&self) -> bool {
        let sides = self.sides();
        let all_there = match self {
            Memories::Each(_) => true,
            Memories::Pipes(pipes) => {
                pipes.len() <= 512 && (0..sides).all(|side| pipes.contains(&side))
            }
        };
        (1..=Memories::MOST).contains(&sides) && all_there
    }
}

impl Buffer {
    /// How many packet memories there are: one for each of those by ingress with each of those by egress.
    pub fn memories(&self) -> u16 {
        let of = |side: &Option<Memories>| side.as_ref().map_or(1, Memories::sides);
        of(&self.ingress_memories).saturating_mul(of(&self.egress_memories))
    }

    /// The buffer as one of its memories has it: pools are what all of them have, and each has an equal part.
    #[must_use]
    pub fn of_one_memory(&self) -> Buffer {
        let memories = u64::from(self.memories());
        let part = |whole: Bytes| Bytes(whole.0 / memories.max(1));
        Buffer {
            pool: part(self.pool),
            lossy_pool: part(self.lossy_pool),
            headroom_pool: self.headroom_pool.map(part),
            ..self.clone()
        }
    }
}

impl Switch {
    /// The memory that a frame takes from one port to another, both counted from 0.
    pub fn memory(&self, from: u16, to: u16) -> u16 {
        let ports = self.ports.iter().map(|group| group.count).sum();
        let side = |of: &Option<Memories>, port| of.as_ref().map_or(0, |of| of.side(port, ports));
        let by_egress = self.buffer.egress_memories.as_ref().map_or(1, Memories::sides);
        side(&self.buffer.ingress_memories, from) * by_egress
            + side(&self.buffer.egress_memories, to)
    }
}

impl Serialize for Memories {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Memories::Each(count) => count.serialize(s),
            Memories::Pipes(pipes) => pipes.serialize(s),
        }
    }
}

/// As it stands in a file.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Each(u16),
    Pipes(Vec<u16>),
}

impl<'de> Deserialize<'de> for Memories {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Memories, D::Error> {
        let wrong = || D::Error::custom(format!("want {}", Memories::WANT));
        let read = match Written::deserialize(d).map_err(|_| wrong())? {
            Written::Each(count) => Memories::Each(count),
            Written::Pipes(pipes) => Memories::Pipes(pipes),
        };
        if read.is_right() { Ok(read) } else { Err(wrong()) }
    }
}

impl schemars::JsonSchema for Memories {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Memories".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": Memories::WANT,
            "anyOf": [
                { "type": "integer", "minimum": 1, "maximum": Memories::MOST },
                {
                    "type": "array",
                    "items": { "type": "integer", "minimum": 0, "maximum": Memories::MOST - 1 },
                    "minItems": 1,
                    "maxItems": 512
                }
            ]
        })
    }
}

/// One memory says the same as nothing.
pub(crate) fn none_for_one<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<Memories>, D::Error> {
    Ok(Option::<Memories>::deserialize(value)?.filter(|of| of.sides() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortGroup;
    use rig_units::PortSpeed;

    fn read(text: &str) -> Memories {
        serde_json::from_str(text).unwrap()
    }

    /// A Tomahawk has four pipes: a frame takes the memory of 0 and 3 or of 1 and 2 at ingress, and of 0 and 1 or of 2 and 3 at egress.
    #[test]
    fn a_tomahawk_takes_its_four_memories_by_both_pipes() {
        let sample = crate::sample(crate::Kind::Switch).unwrap();
        let mut switch = sample.switch().unwrap().clone();
        switch.ports = vec![PortGroup { count: 32, speed: PortSpeed::G100 }];
        switch.buffer.ingress_memories = Some(read("[0,1,1,0]"));
        switch.buffer.egress_memories = Some(read("[0,0,1,1]"));
        assert_eq!(switch.buffer.memories(), 4);
        let pipe = |number: u16| number * 8 + 7;
        let of = |from: u16| [0, 1, 2, 3].map(|to| switch.memory(pipe(from), pipe(to)));
        assert_eq!([0, 1, 2, 3].map(of), [[0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3], [0, 0, 1, 1]]);
    }

    #[test]
    fn a_number_cuts_the_ports_in_order() {
        let sides = |of: &Memories, ports| (0..ports).map(|port| of.side(port, ports)).collect();
        let halves: Vec<u16> = sides(&read("2"), 8);
        assert_eq!(halves, [0, 0, 0, 0, 1, 1, 1, 1]);
        let thirds: Vec<u16> = sides(&read("3"), 8);
        assert_eq!(thirds, [0, 0, 0, 1, 1, 1, 2, 2]);
        let by_turns: Vec<u16> = sides(&read("[0,1,0,1,0,1,0,1]"), 8);
        assert_eq!(by_turns, [0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn each_memory_is_named_and_there_are_not_too_many() {
        for text in ["2", "4", "[0,1,1,0]", "[1,0]"] {
            assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
        }
        for wrong in ["0", "5", "[]", "[0,2]", "[1]", "\"two\"", "[4]", "-1", "[0,65535]"] {
            let read = serde_json::from_str::<Memories>(wrong);
            let told = read.map_err(|error| error.to_string().contains("[0, 1, 1, 0]"));
            assert_eq!(told, Err(true), "{wrong}");
        }
    }
}
