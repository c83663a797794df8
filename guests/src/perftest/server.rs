//! The rig as a perftest server: it answers what a client says, in the client's order.

use super::exchange::{DESTINATION, DONE, Destination, FIGURE, GREETINGS, LineKind, Opening};
use std::collections::BTreeMap;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Talks to a client until it says that it is done. `meet` is asked once for each of its queue pairs, before the client knows
/// where to send to: it makes ready whoever answers there, and says where that is. `begins` hears of one that has said it as often as a client of latency does
/// before it waits for messages. One that `hangs_up` says no more than that: it is done when it goes away.
///
/// A server does not know which program its client is: the client sends first, and what it sends says what is to be answered.
///
/// # Errors
/// The line breaks, or what comes is nothing that perftest says.
pub async fn serve(
    line: &mut (impl AsyncRead + AsyncWrite + Unpin),
    mut meet: impl FnMut(&Opening, &Destination) -> io::Result<Destination>,
    (mut begins, hangs_up): (impl FnMut(&Destination) -> io::Result<()>, bool),
) -> io::Result<Opening> {
    let opening = opened(line).await?;
    let mut met: BTreeMap<u32, (Destination, u8)> = BTreeMap::new();
    loop {
        let mut begin = [0; DONE.len()];
        let first = line.read(&mut begin[..1]).await?;
        if first == 0 && hangs_up && met.values().any(|(_, said)| *said >= GREETINGS) {
            return Ok(opening);
        }
        line.read_exact(&mut begin[first..]).await?;
        match LineKind::of(begin) {
            LineKind::Done => {
                line.write_all(&DONE).await?;
                line.flush().await?;
                return Ok(opening);
            }
            LineKind::Figure => {
                let mut figure = [0; FIGURE];
                figure[..begin.len()].copy_from_slice(&begin);
                line.read_exact(&mut figure[begin.len()..]).await?;
                // What a server measured of one side's traffic is nothing: the client shows its own.
                line.write_all(&figure).await?;
            }
            LineKind::Destination => {
                let theirs = rest(line, begin).await?;
                let ours = match met.get_mut(&theirs.qpn.get()) {
                    Some((known, said)) => {
                        *said = said.saturating_add(1);
                        if *said == GREETINGS {
                            begins(known)?;
                        }
                        *known
                    }
                    None => {
                        let ours = meet(&opening, &theirs)?;
                        met.insert(theirs.qpn.get(), (ours, 1));
                        ours
                    }
                };
                line.write_all(&ours.emit()).await?;
            }
        }
        line.flush().await?;
    }
}

/// The opening, each part answered by itself: the smaller of two is what both use, so the client's own is agreed to.
async fn opened(line: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> io::Result<Opening> {
    let version: [u8; 16] = echoed(line).await?;
    let cycle_buffer = u32::from_be_bytes(echoed(line).await?);
    let cache_line = u32::from_be_bytes(echoed(line).await?);
    let mtu = Opening::mtu_of(echoed(line).await?).map_err(io::Error::other)?;
    Ok(Opening { version, cycle_buffer, cache_line, mtu })
}

async fn echoed<const N: usize>(
    line: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    line.read_exact(&mut bytes).await?;
    line.write_all(&bytes).await?;
    line.flush().await?;
    Ok(bytes)
}

/// A destination whose beginning has been read.
pub(super) async fn rest(
    line: &mut (impl AsyncRead + Unpin),
    begin: [u8; 5],
) -> io::Result<Destination> {
    let mut bytes = [0; DESTINATION];
    bytes[..begin.len()].copy_from_slice(&begin);
    line.read_exact(&mut bytes[begin.len()..]).await?;
    Destination::parse(&bytes).map_err(io::Error::other)
}
