//! One setting of a host's NIC is written and read back, and made what it was, in a shell that holds the host.

use super::access::HostAccess;
use super::exchange;
use super::lease::{self, Wait};
use super::session::Session;
use super::settings::Place;

/// What stands at a place.
fn read(host: &mut Session, place: &Place) -> Result<String, String> {
    match place.dcb() {
        Some(part) => exchange::is(host, part),
        None => place.value(&host.ask(&format!("cat {}", place.text()))?),
    }
}

/// Whether a shell writes it: nothing else than words and numbers is.
///
/// # Errors
/// It is something else.
pub(super) fn writable(value: &str) -> Result<(), String> {
    if !value.is_empty()
        && value.chars().all(|sign| sign.is_ascii_alphanumeric() || ",_-".contains(sign))
    {
        return Ok(());
    }
    Err(format!("`{}` is no value of a setting", value.escape_debug()))
}

/// Makes it that, and reads it back.
pub(super) fn write(host: &mut Session, place: &str, value: &str) -> Result<(), String> {
    let place = Place::read(place)?;
    let now = match place.dcb() {
        Some(part) => exchange::make(host, part, value)?,
        None => {
            writable(value)?;
            let file = place.text();
            place.value(&host.ask(&format!("echo {value} >{file} && cat {file}"))?)?
        }
    };
    if now == value { Ok(()) } else { Err(format!("{} reads back as {now}", place.text())) }
}

/// What it took to make a setting what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Back {
    /// Nothing: it was so.
    Already,
    /// It was written.
    Now,
}

/// Makes a setting what it was `before`, whatever stands there.
///
/// # Errors
/// What became of it, as far as that is known.
pub(super) fn put_back(host: &mut Session, place: &str, before: &str) -> Result<Back, String> {
    let at = Place::read(place)?;
    let now = read(host, &at).map_err(|why| format!("what it is now cannot be read: {why}"))?;
    if now == before {
        return Ok(Back::Already);
    }
    write(host, place, before)
        .map(|()| Back::Now)
        .map_err(|why| format!("it is {now}, and was not put back to {before}: {why}"))
}

/// Makes a setting what it was `before`, unless another hand has changed it since it was `written` and read back; where nobody has read it
/// back, whatever stands there is what the driver made of it. Whether anything had to be done.
///
/// A rig that was killed while it wrote is over there before this looks.
///
/// # Errors
/// The host cannot be asked, or another rig holds it, or another hand has changed it: what it is now.
pub(crate) fn undo(
    host: Option<&str>,
    place: &str,
    before: &str,
    written: Option<&str>,
) -> Result<bool, String> {
    let reach = host.map_or(HostAccess::Here, |host| HostAccess::Ssh(host.to_owned()));
    let at = Place::read(place)?;
    let mut host = lease::take(&reach, Wait::ForTheKilled)?;
    let now = read(&mut host, &at)?;
    if now == before {
        return Ok(false);
    }
    if let Some(written) = written.filter(|written| now != *written) {
        return Err(format!(
            "it is {now}, neither what it was ({before}) nor what the rig wrote ({written}): another hand has changed it, and it stays"
        ));
    }
    write(&mut host, place, before).map(|()| true)
}
