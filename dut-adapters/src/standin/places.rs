//! Where each counter of the device stands in the databases. A chip has the same ones from one copy to the next, and hundreds of them: they
//! are looked up once.

use super::groups::{COPIES, group_of};
use super::names::{Rows, ports};
use super::objects;

/// Where a counter stands.
#[derive(Debug)]
pub(super) struct Place {
    /// The key, of COUNTERS_DB.
    pub(super) key: String,
    /// The field there.
    pub(super) field: String,
    /// Who copies it.
    pub(super) group: &'static str,
}

/// Those of all counters, in the order of their names.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The ports and pools that there were.
    objects: Vec<String>,
    names: Vec<String>,
    all: Vec<Option<Place>>,
}

impl Places {
    /// Looks up where these stand, if they or the objects are not those of last time.
    pub(super) fn learn<'n>(
        &mut self,
        rows: &Rows,
        names: impl Iterator<Item = &'n String> + Clone,
    ) {
        let objects = || ports(rows).into_iter().chain(objects::pools(rows));
        if names.clone().eq(&self.names) && objects().eq(&self.objects) {
            return;
        }
        self.objects = objects().map(str::to_owned).collect();
        self.names = names.cloned().collect();
        self.all = self.names.iter().map(|name| place(rows, name)).collect();
    }

    /// Where each stands; `None`: nowhere.
    pub(super) fn all(&self) -> impl Iterator<Item = Option<&Place>> {
        self.all.iter().map(Option::as_ref)
    }
}

fn place(rows: &Rows, name: &str) -> Option<Place> {
    let (object, counter) = name.split_once(' ')?;
    let (table, object, counter, group) = match counter.split_once(' ') {
        // A copy of watermarks has its table in front.
        Some((own, counter)) => (object, own, counter, COPIES),
        None => ("COUNTERS", object, counter, group_of(counter)?),
    };
    let oid = objects::of(rows, object, counter)?;
    Some(Place { key: format!("{table}:{oid}"), field: counter.to_owned(), group })
}

#[cfg(test)]
mod tests {
    use super::super::groups::STORMED;
    use super::*;
    use crate::standin::Row;

    #[test]
    fn a_counter_stands_where_its_object_is_now() {
        let mut rows: Rows = ["PORT|Ethernet0", "PORT|Ethernet4", "BUFFER_POOL|lossy"]
            .map(|key| (key.to_owned(), Row::new()))
            .into();
        let names = [
            "Ethernet4 SAI_PORT_STAT_IF_IN_OCTETS",
            "Ethernet4:3 PFC_WD_QUEUE_STATS_DEADLOCK_DETECTED",
            "Ethernet4:3 of_no_group",
            "Ethernet8 SAI_PORT_STAT_IF_IN_OCTETS",
            "USER_WATERMARKS Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
            "lossy SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
        ]
        .map(str::to_owned);
        let mut places = Places::default();
        let mut stand = |rows: &Rows, names: &[String]| -> Vec<Option<(String, &str)>> {
            places.learn(rows, names.iter());
            places.all().map(|all| all.map(|place| (place.key.clone(), place.group))).collect()
        };
        let at = |key: &str, group| Some((key.to_owned(), group));
        let mut want = [
            at("COUNTERS:oid:0x1000000000001", "PORT_STAT_COUNTER"),
            at("COUNTERS:oid:0x15000000000013", STORMED),
            None,
            None,
            at("USER_WATERMARKS:oid:0x1a000000000003", COPIES),
            at("COUNTERS:oid:0x1800000000000", "BUFFER_POOL_WATERMARK_STAT_COUNTER"),
        ];
        assert_eq!(stand(&rows, &names), want);
        // A pool in front of it moves the pool; a port that is new is found.
        rows.insert("BUFFER_POOL|lossless".to_owned(), Row::new());
        rows.insert("PORT|Ethernet8".to_owned(), Row::new());
        want[3] = at("COUNTERS:oid:0x1000000000002", "PORT_STAT_COUNTER");
        want[5] = at("COUNTERS:oid:0x1800000000001", "BUFFER_POOL_WATERMARK_STAT_COUNTER");
        assert_eq!(stand(&rows, &names), want);
        assert_eq!(stand(&rows, &names[5..]), want[5..], "another chip");
    }
}
