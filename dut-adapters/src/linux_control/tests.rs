use super::netlink::Stated;
use super::*;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What a guest said whose lab had prepared it.
const RECORDED: &str = include_str!("../../testdata/linux_switch/qdiscs-6.1.txt");
/// As that kernel answered: that it is done, that it is not, and why not.
const DONE: &str = "240000000200000100000000cb00000000000000f8000000240005000000000000000000";
const REFUSED: &str = "240000000200000100000000c3000000eaffffff5c010000240005000000000000000000";
const SAID_WHY: &str = "500000000200000300000000d5000000eaffffffc40000002400050000000000000000002c0001007363685f6574733a20496e76616c6964206e756d626572206f66207374726963742062616e647300";

fn declared() -> Declared {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/linux-switch.yaml");
    rig_lab::read::profile(Path::new(path)).expect("a profile").declared
}

fn recorded() -> Vec<String> {
    RECORDED.lines().map(str::to_owned).collect()
}

/// What a kernel that does otherwise makes of what it is told.
type Twist = fn(&mut Stated);

/// A guest's kernel: what it has, and each thing that it was told to change, in turn.
#[derive(Debug, Clone)]
struct Kernel {
    has: Arc<Mutex<Vec<Stated>>>,
    told: Arc<Mutex<Vec<Stated>>>,
    twist: Twist,
    /// What it refuses, by a handle, and in which words.
    refuses: Option<(u32, &'static str)>,
}

impl Kernel {
    fn new(twist: Twist, refuses: Option<(u32, &'static str)>) -> Kernel {
        let said = recorded();
        let answer = netlink::bytes(said.last().expect("an answer")).expect("hex");
        let has = netlink::read(&answer).expect("an answer");
        Kernel { has: Arc::new(Mutex::new(has)), told: Arc::default(), twist, refuses }
    }

    fn control(&self) -> LinuxControl {
        LinuxControl::of(declared(), Box::new(self.clone()))
    }

    /// What it was told, by handles.
    fn told(&self) -> Vec<u32> {
        self.told.lock().unwrap().iter().map(|one| one.handle).collect()
    }

    fn answers(&self, asked: &[u8]) -> String {
        let mut all = self.has.lock().unwrap();
        // `RTM_GETQDISC`.
        if asked[4] == 38 {
            let hex = |one: &Stated| hex(&netlink::change(one));
            let done = "140000000300020000000000000000000000000000";
            return all.iter().map(hex).collect::<String>() + &done[..40];
        }
        let mut one = netlink::read(&[asked, &netlink::bytes(DONE).unwrap()].concat()).unwrap();
        let told = one.remove(0);
        self.told.lock().unwrap().push(told.clone());
        if let Some((_, words)) = self.refuses.filter(|(handle, _)| *handle == told.handle) {
            return words.to_owned();
        }
        let place =
            |has: &&mut Stated| (has.interface, has.handle) == (told.interface, told.handle);
        let has = all.iter_mut().find(place).expect("it is there");
        *has = told.clone();
        (self.twist)(has);
        DONE.to_owned()
    }
}

impl Shell for Kernel {
    fn run(&mut self, line: &str) -> Result<Vec<String>, String> {
        let (before, asked) = line.split_once("print \"\\n\" }' ").expect("a line for perl");
        let numbers = ["2", "3", "4"].map(str::to_owned);
        let mut said = if before.starts_with("cat ") { numbers.to_vec() } else { Vec::new() };
        said.extend(asked.split(' ').map(|hex| self.answers(&netlink::bytes(hex).unwrap())));
        Ok(said)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn setting(path: &str, value: impl Into<serde_json::Value>) -> Setting {
    Setting { path: path.to_owned(), value: value.into() }
}

fn why(result: Result<(), ControlError>) -> String {
    result.expect_err("it is refused").to_string()
}

const RIGHT: Twist = |_| {};
/// RED of class 3, and of class 4, at each port.
const REDS: [u32; 6] = [0x14_0000, 0x13_0000, 0x14_0000, 0x13_0000, 0x14_0000, 0x13_0000];

#[test]
fn a_guest_states_what_its_lab_has_prepared() {
    let mut control = Kernel::new(RIGHT, None).control();
    let stated = control.snapshot().expect("it answers");
    // The least weight that `tc` takes is 1.
    assert_eq!(declared().differences(&stated), ["wred.weight"]);
    assert_eq!(stated.get("wred.weight"), Some(1.into()));
    let found = found::read(&declared(), &recorded()).expect("an answer");
    let first: Vec<String> =
        found.iter().take(9).map(|one| format!("{} {}", one.called, one.does)).collect();
    assert_eq!(
        first,
        [
            "eth0 2:3 bfifo limit 500000",
            "eth0 1:1 ets 8 bands, 2 strict, quanta [1024, 1024, 3072, 1024, 1024, 1024]",
            "eth0 2:1 bfifo limit 500000",
            "eth0 2:8 bfifo limit 500000",
            "eth0 2:4 red limit 500000, min 100000, max 100000, max_P 2147483648, Wlog 1, Scell_log 11, flags 1",
            "eth0 2:6 bfifo limit 500000",
            "eth0 2:2 bfifo limit 500000",
            "eth0 2:7 bfifo limit 500000",
            "eth0 2:5 red limit 500000, min 100000, max 100000, max_P 2147483648, Wlog 1, Scell_log 11, flags 1",
        ]
    );
}

#[test]
fn what_is_set_is_read_back_and_comes_back_at_the_end_the_last_first() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let before = control.snapshot().expect("it answers");
    let as_it_was = kernel.has.lock().unwrap().clone();
    let weights = serde_json::json!([
        {"dwrr": 15}, {"dwrr": 10}, {"dwrr": 10}, {"dwrr": 60}, {"dwrr": 10}, "strict", "strict", "strict"
    ]);
    let settings = [
        setting("wred.kmin", "50000B"),
        setting("wred.kmax", "300000B"),
        setting("wred.pmax", "20%"),
        setting("wred.weight", 0),
        setting("wred.ecn", "ecn_none"),
        setting("scheduler.queues", weights),
        setting("buffer.lossy_static_th", "200000B"),
    ];
    control.set(&settings).expect("it takes them");
    control.read_back(&settings).expect("it states them");
    let found = found::read(
        &declared(),
        &Kernel::run(&mut kernel.clone(), &found::line(&declared())).unwrap(),
    );
    let first: Vec<String> = found
        .expect("an answer")
        .iter()
        .take(9)
        .map(|one| format!("{} {}", one.called, one.does))
        .collect();
    assert_eq!(
        first,
        [
            "eth0 2:3 bfifo limit 200000",
            // 6 to 1.5 to 1: the weight that is least has a turn of a frame.
            "eth0 1:1 ets 8 bands, 3 strict, quanta [1030, 6180, 1030, 1030, 1545]",
            "eth0 2:1 bfifo limit 200000",
            "eth0 2:8 bfifo limit 200000",
            "eth0 2:4 red limit 200000, min 50000, max 300000, max_P 858993459, Wlog 0, Scell_log 0, flags 0",
            "eth0 2:6 bfifo limit 200000",
            "eth0 2:2 bfifo limit 200000",
            "eth0 2:7 bfifo limit 200000",
            "eth0 2:5 red limit 200000, min 50000, max 300000, max_P 858993459, Wlog 0, Scell_log 0, flags 0",
        ]
    );
    let made = kernel.told();
    control.restore(&before, &settings).expect("it takes it back");
    assert_eq!(control.snapshot(), Ok(before));
    let mut back = kernel.told().split_off(made.len());
    back.reverse();
    assert_eq!(back, made);
    // But for the table of idle times, of which the kernel tells the step alone.
    let differ = |(is, was): &(Stated, Stated)| is != was && was.kind != "red";
    let now = kernel.has.lock().unwrap().clone();
    assert_eq!(now.into_iter().zip(as_it_was).find(differ), None);
}

#[test]
fn what_is_so_already_is_not_told_and_what_is_one_queue_s_own_stays() {
    let kernel = Kernel::new(RIGHT, None);
    let other = |stated: &mut Stated| stated.options[8] ^= 1;
    let mut own = None;
    for stated in kernel.has.lock().unwrap().iter_mut() {
        if stated.kind == "red" && own.is_none() {
            other(stated);
            own = Some(stated.clone());
        }
    }
    let mut control = kernel.control();
    // Where queues differ there is no one value: what is declared stands.
    assert_eq!(control.snapshot().unwrap().get("wred.kmin"), Some("100KB".into()));
    control.set(&[setting("wred.pmax", "50%"), setting("wred.kmax", "100000B")]).expect("as it is");
    assert_eq!(kernel.told(), Vec::<u32>::new());
    control.set(&[setting("wred.pmax", "25%")]).expect("it takes it");
    assert_eq!(kernel.told(), REDS);
    let min = |one: &Stated| one.options[8..12].to_vec();
    let own = own.expect("there is one");
    let all = kernel.has.lock().unwrap();
    let same = all.iter().find(|one| (one.interface, one.handle) == (own.interface, own.handle));
    assert_eq!(same.map(min), Some(min(&own)));
}

#[test]
fn what_reads_back_otherwise_is_refused_by_name_and_put_back() {
    // As a kernel that keeps powers of two; that of 6.1 makes 256 of each lesser quantum, without a word.
    let kernel = Kernel::new(
        |one| {
            if one.kind == "bfifo" && one.options[..4] == 300_000_u32.to_le_bytes() {
                one.options[..4].copy_from_slice(&262_144_u32.to_le_bytes());
            }
        },
        None,
    );
    let mut control = kernel.control();
    let before = control.snapshot();
    let refused = why(control.set(&[setting("buffer.lossy_static_th", "300000B")]));
    assert_eq!(refused, "eth0 2:3 bfifo was set to limit 300000, and reads back limit 262144");
    assert_eq!(control.snapshot(), before);
}

#[test]
fn what_cannot_be_put_back_either_is_a_device_that_is_lost_with_both_reasons() {
    let keeps = |one: &mut Stated| {
        if one.kind == "bfifo" {
            one.options[..4].copy_from_slice(&262_144_u32.to_le_bytes());
        }
    };
    let mut control = Kernel::new(keeps, None).control();
    let set = control.set(&[setting("buffer.lossy_static_th", "300000B")]);
    assert!(matches!(set, Err(ControlError::Lost(_))), "{set:?}");
    let told = why(set);
    let both =
        ["was set to limit 500000, and reads back", "was set to limit 300000, and reads back"];
    assert!(both.iter().all(|one| told.contains(one)), "{told}");
}

#[test]
fn what_the_kernel_refuses_is_told_in_its_words_and_what_it_took_is_put_back() {
    for (words, told) in [(REFUSED, "Invalid argument"), (SAID_WHY, "sch_ets: Invalid number")] {
        let kernel = Kernel::new(RIGHT, Some((0x13_0000, words)));
        let mut control = kernel.control();
        let before = control.snapshot();
        let refused = why(control.set(&[setting("wred.kmax", "200000B")]));
        assert!(
            refused.starts_with("eth0 2:5 red (limit 500000, min 100000, max 200000"),
            "{refused}"
        );
        assert!(refused.contains(told), "{refused}");
        assert_eq!(control.snapshot(), before);
    }
}

#[test]
fn what_no_queueing_discipline_can_be_is_refused_before_any_is_told() {
    let kernel = Kernel::new(RIGHT, None);
    let mut control = kernel.control();
    let mixed = serde_json::json!([
        {"dwrr": 10}, {"dwrr": 10}, {"dwrr": 10}, "strict", {"dwrr": 10}, {"dwrr": 10}, "strict", "strict"
    ]);
    let all = [
        setting("wred.pmax", "0%"),
        setting("wred.ecn", "ecn_green"),
        setting("wred.kmax", "5000000000B"),
        setting("buffer.lossy_static_th", serde_json::Value::Null),
        setting("scheduler.queues", mixed),
        setting("wred.marking", "dequeue"),
        setting("scheduler.pir", "5Mbps-L2"),
    ];
    let told: Vec<String> = all.into_iter().map(|one| why(control.set(&[one]))).collect();
    assert_eq!(
        told,
        [
            "wred.pmax=0%: eth0 2:4 red: RED has no chance of nothing",
            "wred.ecn=ecn_green: eth0 2:4 red: RED knows no colours",
            "wred.kmax=5000000000B: eth0 2:4 red: it counts to 4 GB",
            "buffer.lossy_static_th=null: eth0 2:3 bfifo: each of its queues has an end of its own",
            "scheduler.queues=[{\"dwrr\":10},{\"dwrr\":10},{\"dwrr\":10},\"strict\",{\"dwrr\":10},{\"dwrr\":10},\"strict\",\"strict\"]: eth0 1:1 ets: its strict bands come before all others: strict classes are those of the highest numbers",
            "wred.marking: no queueing discipline is set to it",
            "scheduler.pir: no queueing discipline is set to it",
        ]
    );
    assert_eq!(kernel.told(), Vec::<u32>::new());
}

#[test]
fn an_answer_that_is_not_whole_is_none() {
    let said = recorded();
    let answer = said.last().expect("an answer");
    for odd in ["", "4", "zz", "+1", &answer[..answer.len() - 40], &answer[..200]] {
        let read = netlink::bytes(odd).and_then(|bytes| netlink::read(&bytes));
        assert!(read.is_err(), "{odd}");
    }
    assert!(netlink::done(&netlink::bytes(answer).unwrap()).is_err());
}

#[test]
fn the_table_of_idle_times_halves_the_average_each_time_that_its_weight_does() {
    // A frame of 1000 B lasts 800 us at 10 Mb/s. With W = 1/2 each of them halves it: 31 of them last 24.8 ms, 387 steps of 64 us.
    let (step, table) = table::idle(1, 10_000_000);
    assert_eq!((step, table[0], table[12], table[13], table[25], table[255]), (6, 0, 0, 1, 2, 31));
    // With W = 1/256 it takes 177.1 of them, 141.7 ms: 31 halves last 4.39 s, 268 steps of 16.384 ms.
    let (step, table) = table::idle(8, 10_000_000);
    assert_eq!((step, table[8], table[9], table[254], table[255]), (14, 0, 1, 29, 31));
    // With W = 1 nothing is left of what was.
    let (step, table) = table::idle(0, 10_000_000);
    assert_eq!((step, table[0], table[1]), (0, 0, 31));
}
