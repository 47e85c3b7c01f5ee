//! Order, panics, limits and the end of the telling.

use std::sync::OnceLock;

use super::*;
use crate::env::sim::SimWorld;

/// Writes down what it hears; breaks down over one of them, if told.
#[derive(Default)]
struct Notes {
    heard: Mutex<Vec<String>>,
    breaks_at: Option<u64>,
    queue: OnceLock<EventQueue>,
}

impl Notes {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl EventListener for Notes {
    fn on_event(&self, event: &Event) {
        self.heard.lock().unwrap().push(event.to_string());
        let Event::EventsLost(number) = event else {
            return;
        };
        assert!(self.breaks_at != Some(*number), "number {number} breaks it");
        // What is noted while one is told comes behind it.
        if let Some(queue) = self.queue.get()
            && *number < 3
        {
            queue.note(|| Event::EventsLost(number + 10));
        }
    }
}

fn queue(world: &SimWorld, listeners: &[&Arc<Notes>]) -> EventQueue {
    let listeners = listeners.iter().map(|one| Arc::<Notes>::clone(one) as _);
    EventQueue::new(listeners.collect(), Arc::clone(&world.pool) as _)
}

fn note(queue: &EventQueue, numbers: impl IntoIterator<Item = u64>) {
    for number in numbers {
        queue.note(|| Event::EventsLost(number));
    }
}

fn lines(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    let events = numbers.into_iter().map(Event::EventsLost);
    events.map(|event| event.to_string()).collect()
}

#[test]
fn nothing_is_spent_where_nobody_listens() {
    let world = SimWorld::new(1);
    let queue = queue(&world, &[]);
    queue.note(|| panic!("an event is made for nobody"));
    assert!(!queue.is_heard() && queue.next_job_id() == 0 && !queue.is_news(false));
    assert_eq!(world.pool.pending_count(), 0);
    queue.finish();
    queue.end();
}

#[test]
fn everything_is_told_in_order_and_elsewhere() {
    let world = SimWorld::new(1);
    let (first, second) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
    let queue = queue(&world, &[&first, &second]);
    first.queue.set(queue.clone()).unwrap();
    note(&queue, 1..5);
    // Whoever notes calls nobody.
    assert!(first.heard().is_empty());
    assert_eq!(world.pool.pending_names(), ["esker-events"]);
    world.pool.run_all();
    assert_eq!(first.heard(), lines([1, 2, 3, 4, 11, 12]));
    assert_eq!(second.heard(), first.heard());
    note(&queue, [7]);
    world.pool.run_all();
    assert_eq!(first.heard().last(), lines([7]).last());
}

#[test]
fn a_panic_ends_one_call_and_is_told() {
    let world = SimWorld::new(1);
    let broken = Arc::new(Notes {
        breaks_at: Some(2),
        ..Notes::default()
    });
    let whole = Arc::new(Notes::default());
    let queue = queue(&world, &[&broken, &whole]);
    assert!(queue.trouble().is_none());
    note(&queue, 1..4);
    world.pool.run_all();
    assert_eq!(broken.heard(), lines([1, 2, 3]));
    assert_eq!(whole.heard(), lines([1, 2, 3]));
    let trouble = queue.trouble().unwrap();
    assert!(
        trouble.ends_with("(1 in all): number 2 breaks it"),
        "{trouble}"
    );
    assert!(!queue.is_telling_here() && user_code::listening_to() == 0);
}

#[test]
fn who_closes_tells_what_no_job_has_told() {
    // The jobs of a pool that is gone never come.
    let world = SimWorld::new(1);
    let notes = Arc::new(Notes::default());
    let queue = queue(&world, &[&notes]);
    note(&queue, 1..4);
    world.pool.drop_all();
    queue.finish();
    assert_eq!(notes.heard(), lines([1, 2, 3]));
    // It finds nothing to do where the job has come first.
    note(&queue, [4]);
    world.pool.run_all();
    queue.finish();
    queue.end();
    assert_eq!(Arc::strong_count(&notes), 1);
    note(&queue, [5]);
    world.pool.run_all();
    assert_eq!(notes.heard(), lines([1, 2, 3, 4]));
}

#[test]
fn a_listener_that_is_too_slow_hears_how_many_it_missed() {
    let world = SimWorld::new(1);
    let notes = Arc::new(Notes::default());
    let queue = queue(&world, &[&notes]);
    let most = EVENTS_WAITING_MAX as u64;
    note(&queue, 0..most + 3);
    world.pool.run_all();
    assert_eq!(notes.heard(), lines((0..most).chain([3])));
}

#[test]
fn of_failures_behind_a_fault_one_is_news() {
    let world = SimWorld::new(1);
    let notes = Arc::new(Notes::default());
    let queue = queue(&world, &[&notes]);
    assert!(queue.is_news(false) && queue.is_news(false));
    assert!(queue.is_news(true) && !queue.is_news(true));
}
