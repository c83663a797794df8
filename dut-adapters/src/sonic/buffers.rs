//! Buffers and marking of a port: what its groups and queues are bound to.

use super::asic::Base;
use super::sized;
use super::stated::{Collector, MOST_BYTES, listed};
use super::tables::Said;
use rig_lab::Accounting;

/// Words of `ecn` in `WRED_PROFILE`.
const ECN: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];

impl<'t> Collector<'t> {
    /// The profile that a row of groups or queues is bound to.
    fn profile_of(&self, table: &str, index: u8) -> Option<&'t str> {
        let key = self.tables.bound(table, self.port, index)?;
        let said = self.tables.field(table, key, "profile")?;
        // What a case has it take is no headroom of the chip that the profile is of.
        let is_found = said.text != "NULL" && !said.text.starts_with(sized::OWN);
        if is_found { said.referred("BUFFER_PROFILE") } else { None }
    }

    /// Pools, limits and headroom of the lossless classes, and limits of the others.
    pub(super) fn buffer(&mut self, lossless: &[u8], base: &Base) {
        let bound = lossless.iter().find_map(|&class| self.profile_of("BUFFER_PG", class));
        if let Some(name) = bound {
            self.lossless_profile(name, base);
            let of = |&class: &u8| self.profile_of("BUFFER_PG", class);
            let all: Vec<&str> = lossless.iter().filter_map(of).collect();
            for other in all {
                if other != name {
                    let found = format!(
                        "{}: a group has BUFFER_PROFILE|{other}, another {name}: the profile has the latter",
                        self.port
                    );
                    self.facts.beyond.insert(found);
                }
            }
        }
        let lossy = (0..8).filter(|class| !lossless.contains(class));
        let lossy = lossy.into_iter().find_map(|class| self.profile_of("BUFFER_QUEUE", class));
        let field = |name, field| self.tables.field("BUFFER_PROFILE", name, field);
        let pool = lossy.and_then(|name| field(name, "pool")?.referred("BUFFER_POOL"));
        let size = pool.and_then(|pool| self.tables.field("BUFFER_POOL", pool, "size"));
        let usual = base.switch().map_or(0, |switch| switch.buffer.lossy_pool.0);
        match (self.facts.bytes("buffer.pool"), size) {
            (Some(shared), Some(said)) => {
                let bytes = said.number(MOST_BYTES).unwrap_or_default();
                let no_more = ", of which no more than the lossless pool is shared";
                let more = if bytes > shared { no_more } else { "" };
                let bytes = format!("{}B", bytes.min(shared));
                self.because("buffer.lossy_pool", &bytes, &said, more);
            }
            (Some(shared), None) if shared < usual => {
                let why = "no database says: no more than the lossless pool".to_owned();
                self.usual("buffer.lossy_pool", &format!("{shared}B"), why, None);
            }
            _ => {}
        }
        if let Some(name) = lossy {
            self.exponent("buffer.lossy_dynamic_th", name);
        }
    }

    fn exponent(&mut self, path: &'static str, name: &str) {
        if let Some(said) = self.tables.field("BUFFER_PROFILE", name, "dynamic_th")
            && let Some(k) =
                said.read("a whole number from -8 to 8", |text| text.parse::<i8>().ok())
        {
            self.state(path, &k, &said);
        }
    }

    fn lossless_profile(&mut self, name: &'t str, base: &Base) {
        let tables = self.tables;
        let of = |field| tables.field("BUFFER_PROFILE", name, field);
        let pool = of("pool").and_then(|said| said.referred("BUFFER_POOL"));
        if let Some(pool) = pool {
            self.size("buffer.pool", tables.field("BUFFER_POOL", pool, "size"));
            if let Some(said) = tables.field("BUFFER_POOL", pool, "xoff")
                && said.number(MOST_BYTES).is_some_and(|bytes| bytes > 0)
            {
                self.size("buffer.headroom_pool", Some(said));
            }
        }
        let Some(xoff) = of("xoff") else { return };
        let headroom = self.size("buffer.xoff", Some(xoff)).unwrap_or_default();
        let is_voq = base.switch().is_some_and(|of| of.buffer.accounting == Accounting::Voq);
        if let Some(said) = of("size").filter(|_| is_voq) {
            let found = format!(
                "{} is `{}`: limits are those of virtual output queues, which have no reserve",
                said.path(),
                said.text
            );
            self.facts.beyond.insert(found);
        }
        if let Some(said) = of("size").filter(|_| !is_voq)
            && let Some(size) = said.number(MOST_BYTES)
        {
            let own = if size >= headroom { size - headroom } else { size };
            let more = if size >= headroom { " without xoff, which it holds" } else { "" };
            self.because("buffer.reserved", &format!("{own}B"), &said, more);
        }
        self.size("buffer.xon", of("xon"));
        if self.size("buffer.xon_offset", of("xon_offset")).is_none() {
            let why = format!("BUFFER_PROFILE|{name} has no xon_offset");
            self.usual("buffer.xon_offset", &"0B", why, None);
        }
        self.exponent("buffer.dynamic_th", name);
        self.size("buffer.static_th", of("static_th"));
    }

    /// Marking.
    pub(super) fn wred(&mut self, lossless: &[u8]) {
        let tables = self.tables;
        let mut bound: Vec<(u8, Said<'t>, &'t str)> = Vec::new();
        for queue in 0..8 {
            let said = tables
                .bound("QUEUE", self.port, queue)
                .and_then(|key| tables.field("QUEUE", key, "wred_profile"));
            if let Some(said) = said
                && let Some(name) = said.referred("WRED_PROFILE")
            {
                bound.push((queue, said, name));
            }
        }
        let of_lossless = bound.iter().find(|(queue, ..)| lossless.contains(queue));
        let Some(&(_, first, name)) = of_lossless.or(bound.first()) else {
            let why = format!("no row QUEUE|{} has a wred_profile", self.port);
            return self.usual("wred.queues", &"[]", why, None);
        };
        let queues: Vec<u8> =
            bound.iter().filter(|(.., of)| *of == name).map(|(queue, ..)| *queue).collect();
        self.state("wred.queues", &listed(&queues), &first);
        for (_, said, other) in bound.iter().filter(|(.., of)| *of != name) {
            let found =
                format!("{} is {other}: a profile has one WRED profile, here {name}", said.path());
            self.facts.beyond.insert(found);
        }
        let of = |field| tables.field("WRED_PROFILE", name, field);
        if let Some(said) = of("ecn")
            && let Some(mode) = said.read(&format!("one of {}", ECN.join(", ")), |text| {
                ECN.into_iter().find(|mode| *mode == text)
            })
        {
            self.state("wred.ecn", &mode, &said);
        }
        if let Some(said) = of("wred_green_enable").filter(|said| said.text != "true") {
            let found = format!(
                "{} is `{}`: a profile has one curve for all colours",
                said.path(),
                said.text
            );
            self.facts.beyond.insert(found);
        }
        self.size("wred.kmin", of("green_min_threshold"));
        self.size("wred.kmax", of("green_max_threshold"));
        if let Some(said) = of("green_drop_probability")
            && let Some(percent) = said.number(100)
        {
            self.state("wred.pmax", &format!("{percent}%"), &said);
        }
    }
}
