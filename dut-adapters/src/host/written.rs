//! One setting of a host's NIC is written and read back, and made what it was.

use super::gather::HostAccess;
use super::settings::Place;

/// What stands at a place.
fn read(reach: &HostAccess, place: &Place) -> Result<String, String> {
    place.value(&reach.run(&place.asks())?)
}

/// Makes it that, and reads it back.
pub(super) fn write(reach: &HostAccess, place: &str, value: &str) -> Result<(), String> {
    let place = Place::read(place)?;
    // Nothing else than words and numbers is written by a shell.
    if !value.chars().all(|sign| sign.is_ascii_alphanumeric() || ",_-".contains(sign)) {
        return Err(format!("`{}` is no value of a setting", value.escape_debug()));
    }
    let printed = reach.run(&format!("{} && {}", place.sets(value), place.asks()))?;
    let now = place.value(&printed)?;
    if now == value { Ok(()) } else { Err(format!("{} reads back as {now}", place.text())) }
}

/// Makes a setting what it was `before`, unless another hand has changed it since it was `written` and read back; where nobody has read it
/// back, whatever stands there is what the driver made of it. Whether anything had to be done.
///
/// # Errors
/// The host cannot be asked, or another hand has: what it is now.
pub(crate) fn undo(
    host: Option<&str>,
    place: &str,
    before: &str,
    written: Option<&str>,
) -> Result<bool, String> {
    let reach = host.map_or(HostAccess::Here, |host| HostAccess::Ssh(host.to_owned()));
    let now = read(&reach, &Place::read(place)?)?;
    if now == before {
        return Ok(false);
    }
    if let Some(written) = written.filter(|written| now != *written) {
        return Err(format!(
            "it is {now}, neither what it was ({before}) nor what the rig wrote ({written}): another hand has changed it, and it stays"
        ));
    }
    write(&reach, place, before).map(|()| true)
}
