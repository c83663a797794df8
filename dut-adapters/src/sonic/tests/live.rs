//! A real redis with CONFIG_DB of a file in it: what is read of it, and what is told where it breaks.

use super::{golden, profile, redis_in, said};
use crate::fixture::{Break, BrokenWay};
use crate::sonic::{PortSet, alike, live, read};
use rig_lab::RedisAt;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;

fn sets(at: &RedisAt) -> Vec<PortSet> {
    let tables = live(at, None).unwrap_or_else(|faults| panic!("{}", said(&faults)));
    alike(&tables, None).unwrap_or_else(|faults| panic!("{}", said(&faults)))
}

#[test]
fn a_profile_of_the_live_database_is_that_of_the_file_but_for_its_name() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_in(desk.path()) else { return };
    for name in ["leaf.json", "mistuned.json"] {
        server.tell(4, &["FLUSHALL"]);
        server.load(&golden(name));
        let file = alike(&read(&golden(name), None).expect("it reads"), None).expect("sound");
        let live = sets(&server.at());
        assert_eq!(live.len(), file.len(), "{name}");
        for (live, file) in live.iter().zip(&file) {
            assert_eq!(profile(live), profile(file), "{name}");
            let [live, file] = [live, file].map(|set| set.written("made"));
            let own = |text: &str| -> Vec<String> {
                text.lines()
                    .filter(|line| !line.starts_with("# From "))
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(own(&live), own(&file), "{name}");
            let from = format!("# From {} CONFIG_DB: Ethernet", server.at());
            assert!(live.contains(&from), "{live}");
        }
    }
}

#[test]
fn a_field_that_cannot_be_used_is_told_by_table_key_and_field() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_in(desk.path()) else { return };
    server.load(&golden("leaf.json"));
    server.tell(4, &["HSET", "PFC_WD|Ethernet0", "action", "burn"]);
    server.tell(4, &["HSET", "PORT|Ethernet4", "speed", "fast"]);
    let tables = live(&server.at(), None).expect("it reads");
    let faults = said(&alike(&tables, None).expect_err("two are wrong"));
    let named = format!("{} CONFIG_DB", server.at());
    let want = format!(
        "{named}: action is `burn`\n   = in: PFC_WD|Ethernet0|action\n   = want: drop, forward or alert\n\
         {named}: speed is `fast`\n   = in: PORT|Ethernet4|speed\n   = want: the speed of a port in Mb/s, such as 100000\n"
    );
    assert_eq!(faults, want);
}

#[test]
fn a_way_that_breaks_at_any_command_is_told_and_no_half_database_is_taken_for_one() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_in(desk.path()) else { return };
    server.load(&golden("leaf.json"));
    let whole = BrokenWay::new(desk.path(), &server.at(), Break::Cut(usize::MAX));
    assert_eq!(sets(&whole.at()).len(), 1);
    let commands = whole.passed();
    assert!(commands > 40, "{commands}");
    for at in (0..commands).step_by(7).chain([commands - 1]) {
        for (breaks, why) in [
            (Break::Loading(at), "it is still loading its data (LOADING)"),
            (Break::Cut(at), "the connection is closed"),
            (Break::CutAfter(at), "the connection is closed"),
        ] {
            let way = BrokenWay::new(desk.path(), &server.at(), breaks);
            let faults = said(&live(&way.at(), None).expect_err("it breaks"));
            assert!(faults.contains(why), "{breaks:?}: {faults}");
            assert_eq!(faults.lines().count(), 2, "{faults}");
        }
    }
}

#[test]
fn nobody_at_the_place_and_a_database_of_something_else_are_told() {
    let desk = tempfile::tempdir().expect("a folder");
    let nobody = RedisAt::Unix(desk.path().join("none.sock"));
    let faults = said(&live(&nobody, None).expect_err("nobody is there"));
    assert!(
        faults.contains("cannot connect to unix:") && faults.contains("No such file"),
        "{faults}"
    );
    let Some(server) = redis_in(desk.path()) else { return };
    // As while it is loaded: half of it must not be taken for the whole.
    let faults = said(&live(&server.at(), None).expect_err("it is empty"));
    let why =
        "cannot read CONFIG_DB: it is not whole, or being loaded: CONFIG_DB_INITIALIZED is not 1";
    assert!(faults.contains(why), "{faults}");
    server.load(&golden("leaf.json"));
    server.tell(4, &["SET", "CONFIG_DB_INITIALIZED", "0"]);
    let faults = said(&live(&server.at(), None).expect_err("it is loaded anew"));
    assert!(faults.contains(why), "{faults}");
    server.tell(4, &["FLUSHDB"]);
    server.tell(4, &["SET", "CONFIG_DB_INITIALIZED", "1"]);
    let faults = said(&live(&server.at(), None).expect_err("it is empty"));
    assert!(faults.contains("there is no table in it that is read"), "{faults}");
    server.tell(4, &["SET", "PORT|Ethernet0", "no hash"]);
    let faults = said(&live(&server.at(), None).expect_err("no hash"));
    assert!(faults.contains("cannot read PORT|Ethernet0: it refuses (WRONGTYPE)"), "{faults}");
    // Of many rows that are asked for at once the one is named.
    server.tell(4, &["DEL", "PORT|Ethernet0"]);
    server.load(&golden("leaf.json"));
    server.tell(4, &["SET", "QUEUE|Ethernet0|9", "no hash"]);
    let faults = said(&live(&server.at(), None).expect_err("no hash"));
    assert!(faults.contains("cannot read QUEUE|Ethernet0|9: it refuses (WRONGTYPE)"), "{faults}");
}

#[test]
fn a_list_of_keys_that_comes_to_no_end_is_given_up() {
    let desk = tempfile::tempdir().expect("a folder");
    let socket = desk.path().join("endless.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let ends = std::thread::spawn(move || {
        let (mut line, _) = listener.accept().expect("somebody calls");
        let (mut asked, mut first) = ([0; 4_096], true);
        // To the question for the mark that it is all there; then always that there is more.
        while line.read(&mut asked).is_ok_and(|length| length > 0) {
            let asks = asked.windows(4).filter(|word| word == b"SCAN").count();
            let answer = match first {
                true => b"+OK\r\n$1\r\n1\r\n".to_vec(),
                false => b"*2\r\n$1\r\n7\r\n*0\r\n".repeat(asks),
            };
            (first, asked) = (false, [0; 4_096]);
            if line.write_all(&answer).is_err() {
                break;
            }
        }
    });
    let faults = said(&live(&RedisAt::Unix(socket), None).expect_err("it never ends"));
    assert!(faults.contains("cannot list the keys"), "{faults}");
    assert!(faults.contains("it comes to no end"), "{faults}");
    ends.join().expect("no panic");
}

#[test]
fn no_secret_is_asked_for() {
    let desk = tempfile::tempdir().expect("a folder");
    let Some(server) = redis_in(desk.path()) else { return };
    server.load(&golden("mistuned.json"));
    let secret = "0123456789abcdef0123456789abcdef";
    server.tell(
        4,
        &["HSET", "MACSEC_PROFILE|up", "primary_cak", secret, "cipher_suite", "GCM-AES-128"],
    );
    for field in ["primary_ckn", "fallback_cak", "fallback_ckn"] {
        server.tell(4, &["HSET", "MACSEC_PROFILE|up", field, secret]);
    }
    // What key agreement has come to stands in clear where orchagent takes it.
    let sa = ["HSET", "MACSEC_EGRESS_SA_TABLE:Ethernet0:1:0", "sak", secret, "auth_key", secret];
    server.tell(0, &sa);
    server.tell(4, &["HSET", &format!("SNMP_COMMUNITY|{secret}"), "TYPE", "RO"]);
    let way = BrokenWay::new(desk.path(), &server.at(), Break::Cut(usize::MAX));
    let tables = live(&way.at(), None).expect("it reads");
    assert!(tables.field("MACSEC_PROFILE", "up", "cipher_suite").is_some());
    assert!(way.has_answered("GCM-AES-128"));
    for secret in [&secret[..12], "s3cret", "207B757A", "07554155", "61626364"] {
        assert!(!way.has_answered(secret), "{secret}");
    }
}
