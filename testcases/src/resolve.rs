//! From a case to a script: every quantity worked out for one device and one point of the sweep.

mod endpoints;
mod ends;
mod lasts;
mod load;
mod ports;
mod protected;
mod steps;
mod windows;

pub(crate) use ports::port_number;

use self::ends::Ends;
use crate::case::{CaseAction, Count, Refresh, Storm, Stream};
use crate::{
    Action, Amount, Bottleneck, Case, EndpointSpec, Expect, Flow, FlowSpec, Injection, Lookup,
    MacsecMode, Middlebox, PfcFrames, Script, Step, StormSpec, StreamRate, StreamSpec, send_order,
};
use rig_lab::yaml::Spot;
use rig_lab::{Color, Declared, Fault, Form, Qos};
use rig_units::{Bytes, Dur, MIN_FRAME, PortSpeed, limits};
use std::collections::BTreeMap;

impl Case {
    /// A fault at one of the case's places: `streams.victim.size`, `storms.storm`, `steps[1]`, `dut.PATH`,
    /// `configure.PATH`. Where the file has no such place the next one above it stands for it, at last the case.
    pub fn fault(&self, key: &str, found: impl Into<String>, want: impl Into<String>) -> Fault {
        let keys = core::iter::successors(Some(key), |key| {
            let above = key.rsplit_once('.').map_or("", |(above, _)| above);
            (!key.is_empty()).then_some(above)
        });
        let place = keys.filter_map(|key| self.places.get(key)).next().map(Spot::place);
        let place = Box::new(place.unwrap_or_default());
        Fault { place, found: found.into(), want: want.into() }
    }

    /// Refuses what takes longer than a trial does.
    fn bounded(&self, place: &str, length: Dur) -> Result<(), Fault> {
        if length <= limits::TRIAL {
            return Ok(());
        }
        Err(self.fault(place, format!("a trial of {length}"), limits::trial().want))
    }

    /// One trial on a device that was configured to `declared`. `lookup` gives the values of the sweep's variables, of
    /// declared settings and of predictions, and the number of frames of streams that are searched. Without a `length:` the
    /// script ends with its last step, and not before what that asks of the device is over.
    ///
    /// # Errors
    /// What cannot be done on this device, at its place in the file: a class without a code point, a frame above the
    /// MTU, a load that the port cannot carry, a storm that cannot be gap-free, a length of time that is not known, a
    /// measure that needs a sender to obey PFC which does not.
    pub fn script(&self, declared: &Declared, lookup: &dyn Lookup) -> Result<Script, Fault> {
        let ports = self.rig_ports();
        let dut_ports = self.dut_ports(declared).map_err(|why| {
            self.fault("", format!("the device does not fit: {why}"), "a device with such ports")
        })?;
        let qos = declared.qos();
        let resolving = Resolving {
            case: self,
            declared,
            qos: &qos,
            lookup,
            ports: &ports,
            dut_ports: &dut_ports,
            counted: Counted::default(),
        };
        let streams = self.streams.iter().map(|(name, stream)| resolving.stream(name, stream));
        let streams: Vec<StreamSpec> = streams.collect::<Result<_, _>>()?;
        let flows = self.flows.iter().map(|(name, flow)| resolving.flow(name, flow));
        let flows: Vec<FlowSpec> = flows.collect::<Result<_, _>>()?;
        let between = resolving.between(&flows)?;
        let storms = self.storms.iter().map(|(name, storm)| resolving.storm(name, storm));
        let storms: Vec<StormSpec> = storms.collect::<Result<_, _>>()?;
        let resolving = Resolving { counted: counted(&streams, &flows, &resolving), ..resolving };
        let steps = resolving.steps()?;
        let end = steps.iter().map(Step::end).max().unwrap_or_default();
        let length = match &self.length {
            Some(length) => resolving.time("", length)?,
            None => {
                steps.iter().map(|step| resolving.over(step)).max().unwrap_or_default().max(end)
            }
        };
        self.bounded("", length)?;
        if length < end {
            let found = format!("the trial ends at {length}, and a step at {end}");
            return Err(self.fault("", found, "a length up to the last step's end, or none"));
        }
        let spans = self.measure.iter().filter_map(|measure| Some((measure, measure.span()?)));
        for (measure, (from, until)) in spans {
            let span = [from, until].map(|amount| amount.resolve(&resolving).ok());
            if let [Some(from), Some(until)] = span {
                windows::within(self, measure, (from, until), length)?;
            }
        }
        let endpoints = resolving.endpoints()?;
        let taps = ports.iter().map(|port| self.taps.get(port).copied().unwrap_or_default());
        let taps = taps.collect();
        let script = Script {
            ports,
            dut_ports,
            endpoints,
            macsec: None,
            taps,
            streams,
            flows,
            between,
            storms,
            steps,
            length,
        };
        load::check(self, declared, &script)?;
        endpoints::check(self, declared, &script)?;
        let mut measures = self.measure.iter();
        measures.try_for_each(|one| (one.entry.fits)(one, self, declared, &script))?;
        windows::check(self, &script)?;
        Ok(script)
    }
}

/// Counted streams and flows: how many frames or messages of each, and how long they take to send.
type Counted = BTreeMap<String, (u64, Dur)>;

fn counted(streams: &[StreamSpec], flows: &[FlowSpec], resolving: &Resolving<'_>) -> Counted {
    let of = |stream: &StreamSpec| {
        let length = stream.length(resolving.speed(stream.from))?;
        Some((stream.name.clone(), (stream.count?, length)))
    };
    let of_flow = |flow: &FlowSpec| {
        let length = flow.length(resolving.speed(flow.nic))?;
        Some((flow.name.clone(), (flow.count?.into(), length)))
    };
    streams.iter().filter_map(of).chain(flows.iter().filter_map(of_flow)).collect()
}

struct Resolving<'a> {
    case: &'a Case,
    declared: &'a Declared,
    /// Its map from classes to code points, made once: there may be thousands of flows.
    qos: &'a Qos,
    lookup: &'a dyn Lookup,
    ports: &'a [String],
    dut_ports: &'a [u16],
    counted: Counted,
}

impl Lookup for Resolving<'_> {
    fn duration(&self, name: &str) -> Option<Dur> {
        self.counted.get(name).map(|(_, length)| *length).or_else(|| self.lookup.duration(name))
    }
}

impl Resolving<'_> {
    /// When what a step asks of the device is over at the latest.
    fn over(&self, step: &Step) -> Dur {
        let Action::Device(verb) = &step.action else { return step.at };
        let lasts = verb.row().lasts.and_then(|setting| self.lookup.duration(setting));
        step.at.saturating_add(lasts.unwrap_or_default())
    }

    fn time(&self, place: &str, amount: &Amount) -> Result<Dur, Fault> {
        amount.resolve(self).map_err(|name| {
            let found = format!("`{name}` has no value here");
            self.case.fault(
                place,
                found,
                "a setting that is set, a prediction that exists for this case",
            )
        })
    }

    fn port(&self, name: &str) -> u16 {
        // Every name that a case uses is among its ports; there are at most 512.
        let index = self.ports.iter().position(|port| port == name).unwrap_or_default();
        u16::try_from(index).unwrap_or_default()
    }

    /// Speed of the device's port behind a rig port; the rig's port has the same.
    fn speed(&self, port: u16) -> PortSpeed {
        let dut_port = self.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        self.declared.port_speed(dut_port).unwrap_or(PortSpeed::G100)
    }

    /// How each port behaves as the device's peer.
    fn endpoints(&self) -> Result<Vec<EndpointSpec>, Fault> {
        let of = |(index, port): (u16, &String)| {
            let Some(endpoint) = self.case.endpoints.get(port) else {
                return Ok(EndpointSpec::default());
            };
            endpoints::spec(endpoint, self.speed(index), self).map_err(|name| {
                let found = format!("`{name}` has no value here");
                self.case.fault(
                    &format!("endpoints.{port}.response"),
                    found,
                    "a variable of the sweep",
                )
            })
        };
        (0..).zip(self.ports).map(of).collect()
    }

    fn stream(&self, name: &str, stream: &Stream) -> Result<StreamSpec, Fault> {
        let place = format!("streams.{name}");
        let size = self.lookup.size(name).unwrap_or(stream.size);
        let Ends { over, address, gid, more } = Ends::of(self.case, stream);
        let size = size + more;
        let Some(dscp) = self.qos.dscp_of(stream.class, stream.color) else {
            let color = match stream.color {
                Color::Green => String::new(),
                color => format!(" and {}", color.name()),
            };
            let found = format!("the device maps no DSCP to class {}{color}", stream.class);
            let want =
                "a class of the device's DSCP_TO_TC_MAP, and a colour of its qos.dscp_to_color";
            return Err(self.case.fault(&place, found, want));
        };
        if size > self.declared.mtu() {
            let found = format!("frames of {size}");
            let want = format!("at most the device's MTU of {}", self.declared.mtu());
            return Err(self.case.fault(&format!("{place}.size"), found, want));
        }
        let from = self.port(&stream.from);
        let overhead = self.overhead(stream.macsec);
        let slot = self.speed(from).slot(size + overhead);
        let gap = match stream.rate {
            StreamRate::Every(gap) => gap,
            StreamRate::Load(rate) => rate.pace(size + overhead, self.speed(from)).gap(),
        };
        if gap < slot {
            let found = format!("`{name}` sends a frame of {size} every {gap}");
            let want = format!(
                "at least {slot} apart at {}: a frame, its preamble and gap",
                self.speed(from)
            );
            let key = match stream.rate {
                StreamRate::Every(_) => "every",
                StreamRate::Load(_) => "rate",
            };
            return Err(self.case.fault(&format!("{place}.{key}"), found, want));
        }
        Ok(StreamSpec {
            name: name.to_owned(),
            from,
            to: self.port(&stream.to),
            class: stream.class,
            dscp,
            kind: stream.kind,
            ecn: stream.ecn,
            size,
            vlan: stream.vlan,
            over,
            gid,
            rate: stream.rate,
            count: stream.count.map(|count| match count {
                Count::Frames(frames) => frames,
                Count::Searched => self.lookup.frames(name),
            }),
            macsec: stream.macsec,
            overhead,
            psn: stream.psn,
            of: stream.of.as_ref().and_then(|of| self.connection(of)),
            address,
        })
    }

    /// The number of a flow's connection.
    fn connection(&self, flow: &str) -> Option<u16> {
        let flow = self.case.flows.get_index_of(flow)?;
        u16::try_from(self.case.streams.len() + flow).ok()
    }

    /// The rig between two NICs, where a flow goes from one to the other.
    fn between(&self, flows: &[FlowSpec]) -> Result<Option<(u16, u16, Middlebox<u16>)>, Fault> {
        let Middlebox { delay, inject, bottleneck } = &self.case.between;
        let Some(flow) = flows.iter().find(|flow| flow.nic != flow.to) else {
            if inject.is_empty() && bottleneck.is_none() {
                return Ok(None);
            }
            let found = "the rig passes nothing on: no flow goes from one NIC to another";
            let want = "a flow with `nic: p1, to: p2`";
            return Err(self.case.fault("between", found, want));
        };
        let each = inject.iter().map(|one| {
            let Some(on) = self.case.flows.get(&one.on).and_then(|_| self.connection(&one.on))
            else {
                let found = format!("there is no flow `{}`", one.on);
                return Err(self.case.fault("between", found, "a flow that is started"));
            };
            let Injection { frames, which, iteration, tamper, .. } = *one;
            let is_blue = self.declared.blue_rdma().is_some();
            let flow = self.case.flows.get(&one.on);
            let fits = flow.map_or(Ok(()), |flow| one.fits(flow, is_blue));
            fits.map_err(|(found, want)| self.case.fault("between", found, want))?;
            let (on, which) = send_order::of_lead(flows, self.case.streams.len(), on, which);
            Ok(Injection { on, frames, which, iteration, tamper })
        });
        let inject = each.collect::<Result<_, _>>()?;
        let (a, b) = (flow.nic.min(flow.to), flow.nic.max(flow.to));
        let bottleneck = bottleneck.as_ref().map(|of| self.bottleneck((a, b), of)).transpose()?;
        Ok(Some((a, b, Middlebox { delay: *delay, inject, bottleneck })))
    }

    /// What the frames to one of the two ports have to pass: it is one only if it is slower than the port.
    fn bottleneck(
        &self,
        (a, b): (u16, u16),
        bottleneck: &Bottleneck<String>,
    ) -> Result<Bottleneck<u16>, Fault> {
        let Bottleneck { to: name, speed, curve, buffer } = bottleneck;
        let to = [a, b].into_iter().find(|&port| self.ports[usize::from(port)] == *name);
        let Some(to) = to else {
            let found = format!("nothing is passed on to {name}");
            let [a, b] = [a, b].map(|port| &self.ports[usize::from(port)]);
            let want = format!("{a} or {b}, the ports of the flows");
            return Err(self.case.fault("between.bottleneck.to", found, want));
        };
        if *speed >= self.speed(to) {
            let found = format!("a bottleneck of {speed} before a port of {}", self.speed(to));
            let want = format!("less than {}", self.speed(to));
            return Err(self.case.fault("between.bottleneck.speed", found, want));
        }
        Ok(Bottleneck { to, speed: *speed, curve: *curve, buffer: *buffer })
    }

    fn flow(&self, name: &str, flow: &Flow) -> Result<FlowSpec, Fault> {
        let place = format!("flows.{name}");
        let none = || format!("no DSCP is mapped to class {}", flow.class);
        let dscp = self.qos.dscp_of(flow.class, Color::Green);
        let dscp = dscp.ok_or_else(|| self.case.fault(&place, none(), "a class such as 3"))?;
        let headers = flow.headers();
        if flow.mtu + headers > self.declared.mtu() {
            let found = format!("packets of {} and headers of {headers}", flow.mtu);
            let want = format!("at most the device's MTU of {}", self.declared.mtu());
            return Err(self.case.fault(&format!("{place}.mtu"), found, want));
        }
        let whole = |size: Bytes| u32::try_from(size.0).unwrap_or(u32::MAX);
        Ok(FlowSpec {
            name: name.to_owned(),
            nic: self.port(&flow.nic),
            to: self.port(&flow.to),
            class: flow.class,
            dscp,
            verb: flow.verb,
            message: whole(flow.message),
            mtu: whole(flow.mtu),
            count: flow.count,
            psn: flow.psn,
            address: flow.address,
            vlan: flow.vlan,
            over: flow.over,
            gid: flow.gid,
            container: flow.container.on(self.declared, &self.case.flows),
            app: flow.app,
        })
    }

    fn storm(&self, name: &str, storm: &Storm) -> Result<StormSpec, Fault> {
        let key = match storm.refresh {
            Refresh::OfPause(_) => "refresh",
            Refresh::Every(_) => "every",
        };
        let place = format!("storms.{name}.{key}");
        let from = self.port(&storm.from);
        let speed = self.speed(from);
        let pause = speed.pause(storm.quanta);
        let every = match storm.refresh {
            Refresh::OfPause(share) => pause.scaled(share, 1_000_000),
            Refresh::Every(every) => every,
        };
        let overhead = match storm.macsec {
            MacsecMode::Usual => {
                let clear = self.macsec().is_none_or(|macsec| macsec.sent() == Form::Clear);
                if clear { Bytes(0) } else { self.overhead(MacsecMode::Usual) }
            }
            other => self.overhead(other),
        };
        let slot = speed.slot(MIN_FRAME + overhead);
        if every < slot {
            let found = format!("`{name}` sends a PFC frame every {every}");
            let want = format!("at least {slot} apart at {speed}");
            return Err(self.case.fault(&place, found, want));
        }
        let is_void = matches!(self.case.expect, Expect::Inconclusive { .. });
        if every > pause && !is_void && !self.case.wants_gaps(name) {
            let found = format!(
                "`{name}` cannot be gap-free: it pauses for {pause} every {every} at {speed}"
            );
            return Err(self.case.fault(
                &place,
                found,
                format!("a PFC frame at least every {pause}"),
            ));
        }
        let classes = enable(&storm.classes);
        Ok(StormSpec {
            name: name.to_owned(),
            from,
            classes,
            quanta: storm.quanta,
            every,
            macsec: storm.macsec,
            overhead,
        })
    }

    /// The steps by time; those of one instant stay in the order of the case.
    fn steps(&self) -> Result<Vec<Step>, Fault> {
        let mut all: Vec<Step> = Vec::new();
        for (i, step) in self.case.steps.iter().enumerate() {
            let place = format!("steps[{i}]");
            let (at, before) = (self.time(&place, &step.at)?, all.len());
            match &step.what {
                CaseAction::Start { names, lasting } => {
                    let lasting = lasting.as_ref().map(|amount| self.time(&place, amount));
                    let lasting = lasting.transpose()?;
                    // A stream of no frames is not started.
                    let none = |name: &&String| {
                        self.counted.get(*name).is_some_and(|(frames, _)| *frames == 0)
                    };
                    for name in names.iter().filter(|name| !none(name)) {
                        let (start, stop) = self.sender(name);
                        all.push(Step { at, action: start });
                        all.extend(
                            lasting.map(|lasting| Step {
                                at: at.saturating_add(lasting),
                                action: stop,
                            }),
                        );
                    }
                }
                CaseAction::Stop { names } => {
                    all.extend(names.iter().map(|name| Step { at, action: self.sender(name).1 }));
                }
                &CaseAction::Pfc { ref from, ref classes, quanta, count, every, macsec, odd } => {
                    let (from, enable) = (self.port(from), enable(classes));
                    let frames = PfcFrames { from, enable, quanta, count, every, macsec, odd };
                    all.push(Step { at, action: Action::Pfc(frames) });
                }
                CaseAction::LinkDown { port, lasting } => {
                    let port = self.port(port);
                    let up = at.saturating_add(self.time(&place, lasting)?);
                    all.push(Step { at, action: Action::LinkDown(port) });
                    all.push(Step { at: up, action: Action::LinkUp(port) });
                }
                CaseAction::Configure(setting) => {
                    all.push(Step { at, action: Action::Configure(setting.clone()) });
                }
                CaseAction::Device(verb) => {
                    all.push(Step { at, action: Action::Device(*verb) });
                }
            }
            for step in &all[before..] {
                self.case.bounded(&place, step.end())?;
            }
        }
        all.sort_by_key(|step| step.at);
        Ok(all)
    }

    /// How a stream or storm is started and stopped.
    fn sender(&self, name: &str) -> (Action, Action) {
        let index = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        if let Some(at) = self.case.flows.get_index_of(name) {
            return (Action::StartFlow(index(at)), Action::StopFlow(index(at)));
        }
        match self.case.streams.get_index_of(name) {
            Some(at) => (Action::StartStream(index(at)), Action::StopStream(index(at))),
            None => {
                let at = self.case.storms.get_index_of(name).unwrap_or_default();
                (Action::StartStorm(index(at)), Action::StopStorm(index(at)))
            }
        }
    }
}

/// Class-enable vector: bit `c` is class `c`.
fn enable(classes: &[u8]) -> u8 {
    classes.iter().fold(0, |vector, class| vector | 1 << class)
}
