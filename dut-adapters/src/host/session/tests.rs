use super::*;

const LONG: Duration = Duration::from_secs(60);

/// A shell that does this first.
fn behind(first: &str, lasts: Duration) -> Result<Session, String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", first]);
    Session::through(shell, lasts)
}

#[test]
fn what_a_login_shell_prints_is_none_of_the_answer() {
    let mut loud = behind("echo Welcome; echo Welcome >&2; exec sh -s", LONG).expect("a shell");
    assert_eq!(loud.ask("echo 5"), Ok("5\n".to_owned()));
    assert_eq!(loud.ask("printf 5"), Ok("5".to_owned()));
    assert_eq!(loud.ask(":"), Ok(String::new()));
    // It reads nothing of what is asked next.
    assert_eq!(loud.ask("cat"), Ok(String::new()));
    let refused = loud.ask("echo 7; echo first >&2; echo no rights >&2; false");
    assert_eq!(refused, Err("exit status: 1: no rights".to_owned()));
    assert_eq!(loud.ask("false"), Err("exit status: 1: it does not say why".to_owned()));
    assert_eq!(loud.ask("echo 6"), Ok("6\n".to_owned()));
    assert_eq!(loud.ask("echo 5; exit 0"), Err("its answer is cut short".to_owned()));
    assert_eq!(loud.ask("echo 6"), Err("the line to it is lost".to_owned()));
    let none = |first: &str| behind(first, LONG).map(drop);
    assert_eq!(none(":"), Err("no shell answers there".to_owned()));
    let want = "no shell answers there, but `This account is not available`";
    assert_eq!(none("echo; echo This account is not available"), Err(want.to_owned()));
    assert_eq!(none("echo no host >&2; exit 255"), Err("exit status: 255: no host".to_owned()));
    let endless = behind("exec sh -s", LONG).expect("a shell").ask("yes");
    assert_eq!(endless, Err("it says more than 67108864 bytes".to_owned()));
}

#[test]
fn what_hangs_below_a_shell_is_ended_with_it_and_what_has_left_its_group_is_not_waited_for() {
    let short = Duration::from_secs(1);
    let late = Err("it has not answered within 1 s".to_owned());
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("pid");
    let at = file.display();
    let mut session = behind("exec sh -s", short).expect("a shell");
    let begun = Mono::now();
    assert_eq!(session.ask(&format!("sleep 300 & echo $! >{at}; wait")), late);
    assert!(Mono::now().0 - begun.0 < 20_000_000_000);
    let pid = std::fs::read_to_string(&file).expect("it was started");
    // One that nobody has reaped yet has ended, too.
    let stat = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    while stat().is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Mono::now().0 - begun.0 < 20_000_000_000, "it hangs on");
        thread::yield_now();
    }
    let mut session = behind("exec sh -s", short).expect("a shell");
    let begun = Mono::now();
    assert_eq!(session.ask("setsid sleep 30"), late);
    assert!(Mono::now().0 - begun.0 < 20_000_000_000);
    // Where the rig is no more it is `timeout` that ends it: on this machine, as behind ssh.
    let shell = HostAccess::Here.shell(1, "rigctl of a test");
    assert_eq!(shell.get_program(), "timeout");
    let mut session = Session::through(shell, LONG).expect("a shell");
    let ended = session.ask("sleep 300").expect_err("it is ended");
    assert!(ended.starts_with("signal: 9"), "{ended}");
}
