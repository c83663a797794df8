use super::*;

/// An interface that no machine has: to undo what was done to it there is nothing to do.
const NONE: &str = "rig-no-such-if";

fn link(interface: &str) -> Change {
    Change::Link { interface: interface.to_owned(), up: true }
}

/// An entry of a process that has ended.
fn entry(number: u64) -> Entry {
    let process = Owner::this().expect("/proc");
    let process = Owner { started: process.started + 1, ..process };
    Entry { number, process, namespace: namespace().expect("/proc"), change: link(NONE) }
}

/// A folder with one journal in it.
fn desk(text: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("1-2.jsonl");
    fs::write(&file, text).expect("writable");
    (desk, file)
}

fn line(entry: &Entry) -> String {
    Line::Changes(entry.clone()).text()
}

fn fates(folder: &Path, dry: bool) -> Vec<Fate> {
    let told = restore(folder, dry, |_| true).expect("a folder of ours");
    told.into_iter().map(|told| told.fate).collect()
}

#[test]
fn what_is_noted_stands_on_the_disk_until_it_is_struck_out() {
    let desk = tempfile::tempdir().expect("a folder");
    let folder = desk.path().join("state/journal");
    let journal = Journal::at(&folder);
    let first = journal.note(vec![link(NONE), link("rig-other")]).expect("writable");
    let file = folder.join(Owner::this().expect("/proc").file_name());
    let seen = entry::read(&fs::read(&file).expect("there"));
    let changes: Vec<Change> = seen.outstanding.into_iter().map(|entry| entry.change).collect();
    assert_eq!(changes, [link(NONE), link("rig-other")]);
    let second = journal.note(vec![link(NONE)]).expect("writable");
    journal.strike(&first);
    let seen = entry::read(&fs::read(&file).expect("there"));
    assert_eq!(seen.outstanding.len(), 1);
    journal.strike(&second);
    assert!(!file.exists(), "nothing is outstanding");
    assert_eq!(journal.note(vec![link(NONE)]).expect("once more").len(), 1);
    assert_eq!(fs::metadata(&file).expect("there").mode() & 0o777, 0o600);
    // This process lives, and holds the file.
    assert_eq!(fates(&folder, false), [Fate::Living]);
    assert_eq!(journal.close(), Vec::<String>::new());
    assert!(!file.exists(), "all was undone");
}

#[test]
fn a_change_that_cannot_be_noted_is_refused_with_the_reason() {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("file");
    fs::write(&file, "").expect("writable");
    let why = Journal::at(&file).note(vec![link(NONE)]).expect_err("no folder");
    assert!(why.contains("RIGCTL_STATE names another folder"), "{why}");
    let open = desk.path().join("open");
    fs::create_dir(&open).expect("a folder");
    std::os::unix::fs::symlink(&open, desk.path().join("link")).expect("a link");
    let why = Journal::at(&desk.path().join("link")).note(vec![link(NONE)]).expect_err("a link");
    assert!(why.contains("it is no folder"), "{why}");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(&open, mode).expect("ours");
    let why = Journal::at(&open).note(vec![link(NONE)]).expect_err("open to all");
    assert!(why.contains("others may write there"), "{why}");
    assert!(restore(&open, false, |_| true).expect_err("open to all").contains("others may write"));
}

#[test]
fn a_journal_that_is_cut_anywhere_is_read_as_far_as_it_goes() {
    let text = line(&entry(0)) + &line(&entry(1)) + &Line::Undone(0).text();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for cut in 0..=text.len() {
        let seen = entry::read(&text.as_bytes()[..cut]);
        let lines = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(seen.unread, None, "cut at {cut}");
        assert_eq!(seen.outstanding.len(), [0, 1, 2, 1][lines], "cut at {cut}");
    }
    // The tail of a block that was never written.
    let cut = [line(&entry(0)).as_bytes(), &[0; 300]].concat();
    let (desk, file) = desk(&cut);
    assert_eq!(fates(desk.path(), true), [Fate::Waits]);
    assert_eq!(fs::read(&file).expect("there"), cut, "nothing is touched");
    assert_eq!(fates(desk.path(), false), [Fate::Gone]);
    assert!(!file.exists());
}

#[test]
fn a_journal_too_long_to_be_read_stays_and_is_told() {
    let settled = line(&entry(0)) + &Line::Undone(0).text();
    let text = settled.repeat((1 << 20) / settled.len() + 1) + &line(&entry(1));
    let (desk, file) = desk(text.as_bytes());
    let told = restore(desk.path(), false, |_| true).expect("a folder of ours");
    assert_eq!(told.len(), 1);
    let why = told[0].to_string();
    assert!(told[0].is_left() && why.contains("it has more than 1048576 bytes"), "{why}");
    assert_eq!(fs::read(&file).expect("there"), text.as_bytes());
}

#[test]
fn what_this_version_does_not_know_stays_and_is_told_and_what_stands_around_it_is_restored() {
    let later = line(&entry(1)).replace("\"link\"", "\"buffer\"");
    let (desk, file) = desk((line(&entry(0)) + &later + "noise\n" + &line(&entry(2))).as_bytes());
    let told = restore(desk.path(), false, |_| true).expect("a folder of ours");
    let numbers: Vec<Option<u64>> =
        told.iter().map(|told| told.entry.as_ref().map(|entry| entry.number)).collect();
    assert_eq!(numbers, [Some(2), Some(0), None]);
    assert!(told[..2].iter().all(|told| told.fate == Fate::Gone), "{told:?}");
    let why = told[2].to_string();
    assert!(told[2].is_left() && why.contains("line 2") && why.contains("buffer"), "{why}");
    assert!(why.contains("nor can another one; it stays: delete it"), "{why}");
    // What is settled is struck out, and is not done again.
    let again = restore(desk.path(), false, |_| true).expect("a folder of ours");
    assert_eq!(again.len(), 1);
    assert!(again[0].entry.is_none() && again[0].is_left(), "{again:?}");
    assert!(file.exists());
}

#[test]
fn of_two_changes_with_one_number_neither_hides_the_other() {
    let other = Entry { change: link("rig-other"), ..entry(0) };
    let both = line(&entry(0)) + &line(&other);
    let (desk, file) = desk((both + &Line::Undone(0).text()).as_bytes());
    assert_eq!(
        entry::read(&fs::read(&file).expect("there")).outstanding,
        [entry(0), other.clone()]
    );
    let told = restore(desk.path(), false, |entry| entry.change.is_to_interface(NONE));
    assert_eq!(told.expect("a folder of ours").len(), 1);
    // The one that was not asked for is still known.
    assert!(entry::read(&fs::read(&file).expect("there")).outstanding.contains(&other));
    assert_eq!(fates(desk.path(), false), [Fate::Gone, Fate::Gone]);
    assert!(!file.exists());
}

#[test]
fn what_others_see_to_is_left_to_them() {
    let here = entry(0);
    let living = Entry { process: Owner::this().expect("/proc"), ..entry(1) };
    let elsewhere = Entry { namespace: here.namespace + 1, ..entry(2) };
    let earlier = Owner { boot: "an earlier one".to_owned(), ..here.process.clone() };
    let earlier = Entry { process: earlier, namespace: 1, ..entry(3) };
    let text: String = [&here, &living, &elsewhere, &earlier].map(line).concat() + "{\"cha";
    let (desk, file) = desk(text.as_bytes());
    let wants = [Fate::Gone, Fate::Elsewhere, Fate::Living, Fate::Gone];
    assert_eq!(fates(desk.path(), false), wants);
    // Those that are settled are struck out, behind the line that was cut.
    let seen = entry::read(&fs::read(&file).expect("there"));
    assert_eq!((seen.outstanding, seen.unread), (vec![living, elsewhere], None));
    // Whoever holds the file lives, whatever its number says.
    let held = File::open(&file).expect("there");
    held.lock().expect("nobody has it");
    assert_eq!(fates(desk.path(), false), [Fate::Living, Fate::Living]);
}

#[test]
fn only_what_is_asked_for_is_put_back() {
    let other = Entry { change: link("rig-other"), ..entry(1) };
    let (desk, file) = desk((line(&entry(0)) + &line(&other)).as_bytes());
    let told = restore(desk.path(), false, |entry| entry.change.is_to_interface(NONE));
    assert_eq!(told.expect("a folder of ours").len(), 1);
    assert_eq!(entry::read(&fs::read(file).expect("there")).outstanding, [other]);
    assert_eq!(restore(&desk.path().join("none"), false, |_| true), Ok(Vec::new()));
}

/// A file of so few blocks and no more: the last note that fits into it ends in the middle of a line.
#[test]
fn a_note_that_the_disk_takes_half_of_spoils_no_other() {
    const INSIDE: &str = "RIG_JOURNAL_INSIDE";
    let Some(folder) = std::env::var_os(INSIDE) else {
        let desk = tempfile::tempdir().expect("a folder");
        let name = "journal::tests::a_note_that_the_disk_takes_half_of_spoils_no_other";
        let own = std::env::current_exe().expect("itself");
        // What would exceed the limit is a signal, unless that is ignored.
        let line = "trap '' XFSZ; ulimit -f 2; exec \"$0\" --exact \"$1\" --test-threads 1";
        let mut inside = std::process::Command::new("sh");
        inside.args(["-c", line]).arg(own).arg(name).env(INSIDE, desk.path());
        let output = inside.output().expect("a shell");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    };
    let journal = Journal::at(&PathBuf::from(folder));
    let mut noted = Vec::new();
    let mut refused = 0;
    for _ in 0..100 {
        match journal.note(vec![link(NONE)]) {
            Ok(numbers) => noted.extend(numbers),
            Err(why) => {
                assert!(why.contains("too large"), "{why}");
                refused += 1;
            }
        }
    }
    assert!(refused > 50 && noted.len() > 2, "{refused} refused");
    let file = journal.folder.join(Owner::this().expect("/proc").file_name());
    let seen = entry::read(&fs::read(&file).expect("there"));
    let numbers: Vec<Number> = seen.outstanding.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, noted, "what was taken is all that stands there");
    // What was refused left no half of a line behind, which the next one would have been written onto.
    assert_eq!(fs::read(&file).expect("there").last(), Some(&b'\n'));
    journal.strike(&noted);
    assert!(!file.exists(), "nothing is outstanding");
}

#[test]
fn of_two_processes_that_changed_one_thing_the_later_is_undone_first() {
    let desk = tempfile::tempdir().expect("a folder");
    let namespace = namespace().expect("/proc");
    let of = |pid: u32, started: u64, boot: &str| {
        let process = Owner { pid, started, boot: boot.to_owned() };
        let entry = Entry { number: 0, process, namespace, change: link(NONE) };
        let file = desk.path().join(entry.process.file_name());
        fs::write(file, line(&entry)).expect("writable");
    };
    let boot = Owner::this().expect("/proc").boot;
    // By name `1000-` comes before `999-`, and a number that was given anew before one that was not; no process here began so late.
    let late = u64::MAX / 2;
    of(999, late, &boot);
    of(1000, late + 1, &boot);
    of(7, late + 2, &boot);
    // Made last of all, by a system that is no more, whose ticks say nothing here.
    of(1, u64::MAX, "another");
    let told = restore(desk.path(), true, |_| true).expect("a folder of ours");
    let pids: Vec<u32> =
        told.iter().filter_map(|told| Some(told.entry.as_ref()?.process.pid)).collect();
    assert_eq!(pids, [7, 1000, 999, 1]);
}
