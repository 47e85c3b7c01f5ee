//! Tests of `calls`.

use tokio::runtime::Builder;

use super::*;

/// A connection that notes what it is asked, and fails at every number that a divisor divides.
struct Noting(Rc<RefCell<Vec<u64>>>, u64);

impl Calls for Noting {
    async fn call(&mut self, number: u64) -> Outcome<usize> {
        self.0.borrow_mut().push(number);
        tokio::task::yield_now().await;
        match number % self.1 {
            0 => Err(Failure::failed("divided")),
            _ => Ok(10),
        }
    }
}

fn call(connections: usize, divisor: u64, span: Span) -> (Outcome<Called>, Vec<u64>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let noted = Rc::default();
    let all = (0..connections).map(|_| Noting(Rc::clone(&noted), divisor));
    let called = call_all(&runtime, all.collect(), span).map(|called| called.0);
    let noted = noted.borrow().clone();
    (called, noted)
}

#[test]
fn connections_share_the_numbers() {
    // Three connections call each of twenty numbers once; two of them fail, which is told.
    let (called, mut noted) = call(3, 10, Span::Each(20));
    let called = called.expect("it ends");
    noted.sort_unstable();
    assert_eq!(noted, (0..20).collect::<Vec<_>>());
    assert_eq!((called.ops, called.bytes, called.failed), (18, 180, 2));
    assert_eq!(called.latencies.count(), 18);
    assert_eq!((called.connections, &called.failure[..]), (3, "divided"));
}

#[test]
fn a_connection_that_only_fails_ends_it() {
    // Nothing is made a figure of that was not answered.
    let (called, noted) = call(2, 1, Span::Each(u64::MAX));
    assert!(called.is_err());
    assert!(noted.len() as u64 <= 2 * FAILURES_MAX);
}
