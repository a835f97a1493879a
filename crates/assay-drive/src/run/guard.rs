//! What the calling thread does while sessions work: it records, watches and tells.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_model::Plan;

use super::{CancelFlag, Ended, PassListener, Progress, Stage, named, spawn_failed};
use crate::clock::{Clock, MonotonicClock};
use crate::error::DriveError;
use crate::recorder::Recorder;
use crate::schedule::passes::Passed;
use crate::watchdog::Watch;

/// How often the watchdog looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// How often the recorder empties the rings; what it writes is on disk well within a second.
const RECORD_INTERVAL: Duration = Duration::from_millis(100);
/// How often it does while rings fill up.
const HURRY_INTERVAL: Duration = Duration::from_millis(5);

/// Who is told how far the run is, and what they heard last.
pub(super) struct Ears<'t, T> {
    pub(super) tick: &'t mut T,
    /// The phase that they were told of last.
    pub(super) phase: usize,
    pub(super) listener: Option<PassListener>,
    /// The phase and its passes that the listener heard of last.
    pub(super) heard: Option<(usize, Passed)>,
}

/// What the calling thread does while sessions work: record, watch, tell.
pub(super) struct Guard<'a> {
    pub(super) plan: &'a Plan,
    pub(super) stage: &'a Stage<'a>,
    pub(super) watches: &'a [Watch],
    pub(super) cancel: &'a CancelFlag,
}

impl Guard<'_> {
    /// Keeps the record and the watch until all sessions are done; says how the run ended.
    pub(super) fn keep(
        &self,
        recorder: Recorder<'_>,
        ears: &mut Ears<'_, impl FnMut(&Progress)>,
        done: impl Fn() -> bool + Sync,
    ) -> Result<Ended, DriveError> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let record = || self.record(recorder, &over);
            let stop = || self.stage.shared.stop.store(true, Ordering::Relaxed);
            let recording = named("assay-recorder")
                .spawn_scoped(scope, record)
                .inspect_err(|_| stop())
                .map_err(spawn_failed)?;
            let ended = self.watch(ears, &|| {
                if recording.is_finished() {
                    // Nobody writes any more: what happens now would be lost.
                    stop();
                }
                done()
            });
            over.store(true, Ordering::Release);
            recording.thread().unpark();
            recording.join().map_err(|_| DriveError::Thread("recorder"))?.map(|()| ended)
        })
    }

    fn record(&self, mut recorder: Recorder<'_>, over: &AtomicBool) -> Result<(), DriveError> {
        while !over.load(Ordering::Acquire) {
            let filling = recorder.drain().inspect_err(|_| {
                // Dropping the recorder tells the rings that nobody listens any more.
                self.stage.shared.stop.store(true, Ordering::Relaxed);
            })?;
            thread::park_timeout(if filling { HURRY_INTERVAL } else { RECORD_INTERVAL });
        }
        recorder.finish()
    }

    fn watch(&self, ears: &mut Ears<'_, impl FnMut(&Progress)>, done: &impl Fn() -> bool) -> Ended {
        let clock = MonotonicClock;
        let (stop, begun_ns) = (&self.stage.shared.stop, clock.now_ns());
        let mut ended = Ended::Done;
        while !done() {
            let now_ns = clock.now_ns();
            let limit_ns = self.plan.run_deadline_ns;
            if self.cancel.is_cancelled() {
                ended = Ended::Cancelled;
                stop.store(true, Ordering::Relaxed);
            } else if limit_ns > 0 && now_ns - begun_ns > limit_ns && ended == Ended::Done {
                ended = Ended::Deadline;
                stop.store(true, Ordering::Relaxed);
            }
            let stopping = stop.load(Ordering::Relaxed);
            for watch in self.watches {
                watch.look(now_ns, self.plan.operation_deadline_ns, stopping);
            }
            self.tell(ears, now_ns);
            thread::sleep(LOOK_INTERVAL);
        }
        self.tell(ears, clock.now_ns());
        ended
    }

    /// Tells of the phase under way, and before it of those that ended since the last word.
    fn tell(&self, ears: &mut Ears<'_, impl FnMut(&Progress)>, now_ns: i64) {
        // Workers run through the phases that a stopped run has left; those are not played.
        if !self.stage.shared.stop.load(Ordering::Relaxed) {
            let now = self.stage.phase.load(Ordering::Acquire) as usize;
            for over in ears.phase..now {
                (ears.tick)(&self.progress(over, now_ns));
                self.tell_passes(ears, over);
            }
            ears.phase = now;
        }
        (ears.tick)(&self.progress(ears.phase, now_ns));
        self.tell_passes(ears, ears.phase);
    }

    /// Tells of passes that ended since the last word.
    fn tell_passes<T>(&self, ears: &mut Ears<'_, T>, phase: usize) {
        let schedule = &self.stage.schedules[phase];
        let Some(listener) = &mut ears.listener else { return };
        let Some(passed) = schedule.passed().filter(|_| schedule.begun_ns() != 0) else { return };
        if ears.heard.replace((phase, passed)) != Some((phase, passed))
            && listener(&self.plan.phases[phase].name, passed)
        {
            schedule.say_enough();
        }
    }

    fn progress(&self, phase: usize, now_ns: i64) -> Progress {
        // 0: no worker has begun it yet.
        let begun_ns = match self.stage.schedules[phase].begun_ns() {
            0 => now_ns,
            begun_ns => begun_ns,
        };
        Progress {
            phase: self.plan.phases[phase].name.clone(),
            ended: self.stage.shared.ended.load(Ordering::Relaxed),
            phase_ns: (now_ns - begun_ns).max(0),
        }
    }
}
