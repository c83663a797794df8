use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn made(path: &Path) -> Folder {
    Folder::make(path, "--out", false).expect("a new folder").0
}

fn refused(path: &Path, overwrite: bool) -> Refused {
    Folder::make(path, "--out", overwrite).expect_err("not to be touched")
}

#[test]
fn a_new_folder_and_an_empty_one_are_taken_and_what_is_in_it_is_for_its_owner() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    for name in ["new/below", "empty"] {
        let path = desk.path().join(name);
        if name == "empty" {
            fs::create_dir(&path).expect("writable");
        }
        let folder = made(&path);
        folder.file("a/b/c.txt").expect("a new file").write_all(b"text").expect("room");
        folder.write("whole", b"first").expect("room");
        folder.write("whole", b"second").expect("room");
        let read = |name: &str| fs::read_to_string(path.join(name)).expect("there");
        assert_eq!((read("a/b/c.txt"), read("whole")), ("text".to_owned(), "second".to_owned()));
        let mode =
            |name: &str| fs::metadata(path.join(name)).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode("a/b/c.txt") & !0o640, 0, "{:o}", mode("a/b/c.txt"));
        assert_eq!(mode("a/b") & !0o750, 0, "{:o}", mode("a/b"));
        assert_eq!(fs::read_dir(&path).expect("a folder").count(), 3, "the mark, a, whole");
    }
}

#[test]
fn a_run_that_is_there_is_kept_under_another_name_and_only_when_asked_for() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("night");
    for number in 0..3_u8 {
        if number > 0 {
            let Refused::Input(why) = refused(&path, false) else { panic!("another time") };
            assert!(why.contains("holds a run already"), "{why}");
            assert!(why.contains("--overwrite, which keeps that run as `night~1`"), "{why}");
        }
        let (folder, moved) = Folder::make(&path, "--out", number > 0).expect("moved away");
        let to = path.with_file_name(format!("night~{number}")).display().to_string();
        assert_eq!(moved, (number > 0).then_some(to));
        folder.write("results.json", &[number]).expect("room");
    }
    let read = |name: &str| fs::read(desk.path().join(name).join("results.json")).expect("kept");
    assert_eq!([read("night"), read("night~1"), read("night~2")], [[2], [0], [1]]);
}

#[test]
fn files_of_somebody_elses_are_refused_whatever_is_asked_for() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("thesis");
    fs::create_dir_all(path.join("evidence")).expect("writable");
    fs::write(path.join("evidence/own.txt"), "precious").expect("writable");
    for overwrite in [false, true] {
        let Refused::Input(why) = refused(&path, overwrite) else { panic!("another time") };
        assert!(why.contains("no run of the rig's, such as `evidence`"), "{why}");
    }
    assert_eq!(fs::read(path.join("evidence/own.txt")).expect("there"), b"precious");
    fs::write(desk.path().join("file"), "precious").expect("writable");
    symlink(&path, desk.path().join("link")).expect("writable");
    for name in ["file", "link", "link/.."] {
        let Refused::Input(why) = refused(&desk.path().join(name), true) else { panic!("{name}") };
        assert!(why.contains("want: a new folder, or an empty one"), "{why}");
    }
}

#[test]
fn a_mark_that_the_rig_did_not_write_makes_no_folder_the_rigs() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    for (name, mark) in [("empty", ""), ("begun", "rig-run"), ("other", "rig-runs of mine\n")] {
        let path = desk.path().join(name);
        fs::create_dir(&path).expect("writable");
        fs::write(path.join(MARK), mark).expect("writable");
        fs::write(path.join("own.txt"), "precious").expect("writable");
        for overwrite in [false, true] {
            let Refused::Input(why) = refused(&path, overwrite) else { panic!("another time") };
            assert!(why.contains("`.rigctl` in it is not the rig's mark"), "{why}");
        }
        assert!(matches!(Folder::reopen(&path), Err(Refused::Input(_))), "{name}");
        assert_eq!(fs::read(path.join("own.txt")).expect("there"), b"precious");
    }
    // Neither is a pipe waited for.
    let path = desk.path().join("pipe");
    fs::create_dir(&path).expect("writable");
    nix::unistd::mkfifo(&path.join(MARK), Mode::S_IRWXU).expect("a pipe");
    assert!(matches!(refused(&path, true), Refused::Input(_)));
}

#[test]
fn a_run_is_not_made_within_another_one() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let night = desk.path().join("night");
    drop(made(&night));
    symlink(&night, desk.path().join("link")).expect("writable");
    for inner in ["night/x", "night/evidence/deep/x", "link/x"] {
        for overwrite in [false, true] {
            let Refused::Input(why) = refused(&desk.path().join(inner), overwrite) else {
                panic!("another time")
            };
            assert!(why.contains("night, which holds a run"), "{why}");
        }
    }
    let Err(Refused::Input(why)) = Folder::numbered(&night.join("rig-runs"), "x") else {
        panic!("another place")
    };
    assert!(why.contains("which holds a run"), "{why}");
    assert_eq!(fs::read_dir(&night).expect("a folder").count(), 1, "the mark alone");
    // Beside it is another matter, and so is a folder with a file of that name that is no mark.
    made(&desk.path().join("nights/x"));
    fs::create_dir(desk.path().join("own")).expect("writable");
    fs::write(desk.path().join("own").join(MARK), "").expect("writable");
    made(&desk.path().join("own/x"));
}

#[test]
fn a_folder_has_one_run_at_a_time() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("night");
    let first = made(&path);
    for overwrite in [false, true] {
        assert!(matches!(refused(&path, overwrite), Refused::Busy(_)));
    }
    assert!(matches!(Folder::reopen(&path), Err(Refused::Busy(_))));
    drop(first);
    assert!(matches!(refused(&path, false), Refused::Input(_)));
    Folder::reopen(&path).expect("nobody writes there").write("late", b"x").expect("room");
}

#[test]
fn of_runs_that_begin_at_once_one_has_the_folder_and_nobody_moves_it_away() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("night");
    for round in 0..200 {
        let all = std::sync::Barrier::new(3);
        let make = || {
            all.wait();
            let made = Folder::make(&path, "--out", true);
            // Held while others try.
            all.wait();
            made.map(|(folder, _)| folder.write("mine", b"x").expect("its folder"))
        };
        let made = std::thread::scope(|scope| {
            let made = [(); 3].map(|()| scope.spawn(make));
            made.map(|made| made.join().expect("no panic"))
        });
        assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1, "{round}: {made:?}");
        let busy = made.iter().filter(|made| matches!(made, Err(Refused::Busy(_))));
        assert_eq!(busy.count(), 2, "{round}: {made:?}");
        assert!(path.join("mine").exists(), "{round}: it was moved away");
    }
}

#[test]
fn a_folder_that_is_given_up_gives_its_place_back() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("night");
    made(&path).write("results.json", b"x").expect("room");
    let (folder, moved) = Folder::make(&path, "--out", true).expect("it may be moved");
    assert!(moved.is_some_and(|moved| moved.ends_with("night~1")));
    folder.abandon();
    assert!(path.join("results.json").exists() && !desk.path().join("night~1").exists());
    let (folder, _) = Folder::make(&desk.path().join("new"), "--out", true).expect("new");
    folder.abandon();
    assert!(!desk.path().join("new").exists());
}

#[test]
fn what_a_killed_process_of_the_same_number_left_is_in_nobodys_way() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let (path, runs) = (desk.path().join("night"), desk.path().join("rig-runs"));
    let stale = |folder: &Path, name: &str| {
        fs::create_dir_all(folder).expect("writable");
        let file = folder.join(format!(".{name}.{}", std::process::id()));
        fs::write(&file, "half").expect("writable");
        file
    };
    let left = [stale(&path, MARK), stale(desk.path(), "junit.xml"), stale(&runs, "latest")];
    let folder = made(&path);
    let of_report = stale(&path, "report.html");
    folder.write("report.html", b"page").expect("the name is free");
    put(&desk.path().join("junit.xml"), b"<xml/>").expect("the name is free");
    let newest = Folder::numbered(&runs, "now-7").expect("the name is free");
    assert_eq!(fs::read_link(runs.join("latest")).expect("a link"), Path::new("now-7"));
    for file in left.iter().chain([&of_report]) {
        assert_eq!(fs::read(file).expect("another's"), b"half");
    }
    drop((folder, newest));
}

#[test]
fn names_that_are_taken_get_a_number() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let runs = desk.path().join("rig-runs");
    let all = [(); 3].map(|()| Folder::numbered(&runs, "now-7").expect("a name is free"));
    let names = all.each_ref().map(|folder| folder.path().strip_prefix(&runs).expect("below"));
    assert_eq!(names, ["now-7", "now-7-2", "now-7-3"].map(Path::new));
    assert_eq!(fs::read_link(runs.join("latest")).expect("a link"), Path::new("now-7-3"));
    fs::remove_file(runs.join("latest")).expect("writable");
    fs::write(runs.join("latest"), "precious").expect("writable");
    assert!(matches!(Folder::numbered(&runs, "now-7"), Err(Refused::Input(_))));
    assert_eq!(fs::read(runs.join("latest")).expect("there"), b"precious");
}

#[test]
fn no_planted_link_is_followed() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let precious = desk.path().join("precious");
    fs::write(&precious, "precious").expect("writable");
    let (path, elsewhere) = (desk.path().join("night"), desk.path().join("elsewhere"));
    let folder = made(&path);
    fs::create_dir(&elsewhere).expect("writable");
    symlink(&precious, path.join("events.jsonl")).expect("writable");
    symlink(&precious, path.join("report.html")).expect("writable");
    symlink(&elsewhere, path.join("evidence")).expect("writable");
    folder.file("events.jsonl").expect_err("a link is in its place");
    folder.file("evidence/a/1.gz").expect_err("its folder is a link");
    folder.write("report.html", b"page").expect("the link is replaced");
    assert_eq!(fs::read(&precious).expect("there"), b"precious");
    assert_eq!(fs::read_dir(&elsewhere).expect("a folder").count(), 0);
    // The same of a file that is named on the command line.
    fs::write(&precious, "<precious/>").expect("writable");
    symlink(&precious, desk.path().join("junit.xml")).expect("writable");
    put(&desk.path().join("junit.xml"), b"<xml/>").expect("room");
    assert_eq!(fs::read(&precious).expect("there"), b"<precious/>");
}

#[test]
fn a_folder_that_is_gone_is_no_place_to_write() {
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("night");
    let folder = made(&path);
    fs::remove_dir_all(&path).expect("writable");
    let why = folder.write("results.json", b"x").expect_err("it is gone").to_string();
    assert!(why.contains("night/results.json: No such file"), "{why}");
    folder.file("evidence/a/1.gz").expect_err("it is gone");
    assert!(!path.exists());
}

#[test]
fn a_folder_of_another_user_is_refused_and_under_sudo_the_users_stay_theirs() {
    if !nix::unistd::geteuid().is_root() {
        let all = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(!all, "needs root: folders of other users");
        eprintln!("left out: folders of other users take root");
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let path = desk.path().join("theirs");
    fs::create_dir(&path).expect("writable");
    std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).expect("root may");
    let Refused::Input(why) = refused(&path, true) else { panic!("another time") };
    assert!(why.contains("belongs to user 65534"), "{why}");
    // The same process under sudo, as the user whose folder it is.
    let given = Owner::in_folder_for(&File::open(&path).expect("there"), Some((65_534, 65_534)));
    let file = File::create(path.join("report.html")).expect("root may");
    given.expect("there").give(&file).expect("root may");
    let owner = std::os::unix::fs::MetadataExt::uid(&file.metadata().expect("there"));
    assert_eq!(owner, 65_534);
    // Folders above are made one by one.
    owner::make_all(&path.join("deep/er")).expect("root may");
    assert!(path.join("deep/er").is_dir());
}
