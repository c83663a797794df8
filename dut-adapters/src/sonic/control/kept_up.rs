//! How the device behind the databases has kept up with its clock, where it is a stand-in: an emulated one on a machine that may look
//! away. A switch has no such row, and nobody asks it.

use super::super::link::{Db, Link};
use super::super::wire::end;
use crate::control::{Health, Lost};
use core::time::Duration;
use redis::Pipeline;
use rig_generator::port::Mono;

/// The row of STATE_DB in which it answers, and where it hears that it is asked.
const ROW: &str = "RIG_STANDIN_HEALTH";
/// How long an answer may take, and how long between two looks.
const ANSWERS: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);

/// How it has kept up since this was last asked; `None` where it is no stand-in. One that does not answer in time was as late as that.
///
/// # Errors
/// The switch is lost.
pub(super) fn kept_up(
    link: &mut Link,
    pause: &mut dyn FnMut(Duration),
) -> Result<Option<Health>, Lost> {
    let tried = format!("read {ROW}");
    let mut look = redis::pipe();
    look.cmd("HMGET").arg(ROW).arg(&["asked", "said"][..]);
    let answer = |link: &mut Link| -> Result<[Option<String>; 2], Lost> {
        let [answer]: [[Option<String>; 2]; 1] = link.ask(Db::State, &tried, &look)?;
        Ok(answer)
    };
    if answer(link)?[0].is_none() {
        return Ok(None);
    }
    // No two questions have the same name.
    let name = Mono::now().0.to_string();
    let mut ask: Pipeline = redis::pipe();
    ask.cmd("PUBLISH").arg(ROW).arg(&name);
    let [heard]: [i64; 1] = link.ask(Db::State, &format!("ask {ROW}"), &ask)?;
    let over = end(ANSWERS);
    while heard > 0 && Mono::now() < over {
        let [asked, said] = answer(link)?;
        if asked.as_ref() == Some(&name)
            && let Some(health) = said.and_then(|said| serde_json::from_str(&said).ok())
        {
            return Ok(Some(health));
        }
        pause(LOOK);
    }
    Ok(Some(Health { event_late: rig_units::Dur::s(1), ..Health::default() }))
}
