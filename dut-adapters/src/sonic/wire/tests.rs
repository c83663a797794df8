//! Answers in pieces, answers that are none, and answers that do not end.

use super::{DEEPEST, Wire, end, taken};
use core::time::Duration;
use redis::Value;
use rig_generator::port::Mono;
use rig_units::Dur;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

fn text(of: &str) -> Value {
    Value::BulkString(of.as_bytes().to_vec())
}

#[test]
fn an_answer_is_taken_once_all_of_it_is_there_and_no_byte_of_the_next() {
    let answers: [(&[u8], Value); 7] = [
        (b"+OK\r\n", Value::Okay),
        (b"+PONG\r\n", Value::SimpleString("PONG".to_owned())),
        (b":-7\r\n", Value::Int(-7)),
        (b"$-1\r\n", Value::Nil),
        (b"$4\r\na\r\nb\r\n", text("a\r\nb")),
        (b"*-1\r\n", Value::Nil),
        (
            b"*2\r\n$1\r\n0\r\n*1\r\n:1\r\n",
            Value::Array(vec![text("0"), Value::Array(vec![Value::Int(1)])]),
        ),
    ];
    for (bytes, value) in answers {
        for length in 0..bytes.len() {
            assert_eq!(taken(&bytes[..length], 0).expect("so far it is one"), None);
        }
        let more = [bytes, b"+no"].concat();
        assert_eq!(taken(&more, 0).expect("it is one"), Some((Ok(value), bytes.len())));
    }
}

#[test]
fn an_error_is_its_code_and_what_is_no_answer_is_told() {
    let secret = b"-WRONGTYPE s3cret is of another kind\r\n";
    let code = Err("WRONGTYPE".to_owned());
    assert_eq!(taken(secret, 0).expect("it is one"), Some((code.clone(), secret.len())));
    let listed = [b"*2\r\n:1\r\n", &secret[..]].concat();
    assert_eq!(taken(&listed, 0).expect("it is one"), Some((code, listed.len())));
    let deep = b"*1\r\n".repeat(DEEPEST + 1);
    for bytes in
        [&b"HTTP/1.1 200 OK\r\n"[..], b"\r\n", b":x\r\n", b"$99999999999\r\n", &deep, b"\xff\r\n"]
    {
        assert!(taken(bytes, 0).is_err(), "{bytes:?}");
    }
}

#[test]
fn bytes_that_trickle_in_do_not_put_the_end_off() {
    let (near, mut far) = UnixStream::pair().expect("sockets");
    let mut wire = Wire { carrier: Box::new(near), heard: Vec::new() };
    let trickles = std::thread::spawn(move || {
        // A text of a million bytes, one after the other.
        far.set_read_timeout(Some(Duration::from_millis(2))).expect("a socket");
        let mut sent = far.write_all(b"$1000000\r\n");
        while sent.is_ok() {
            let _waited = far.read(&mut [0]);
            sent = far.write_all(b"x");
        }
    });
    let began = Mono::now();
    let heard = wire.hear(end(Duration::from_millis(60))).expect("a line");
    let took = Mono::now().since(began).expect("later");
    assert_eq!(heard, None);
    assert!(wire.heard.len() > 12, "something came");
    assert!(took >= Dur::ms(60) && took < Dur::s(3), "{took}");
    drop(wire);
    trickles.join().expect("no panic");
}
