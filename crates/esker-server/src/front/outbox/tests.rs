//! What waits to be written.

use super::*;

fn put(outbox: &Outbox<()>, len: usize, bytes_max: usize) {
    outbox.push((), bytes_max, |out| out.resize(out.len() + len, 0));
}

#[tokio::test]
async fn what_the_writer_has_taken_counts_until_it_is_written() {
    let outbox = Outbox::new();
    put(&outbox, 8, 10);
    let mut bytes = Vec::new();
    assert!(outbox.take(&mut bytes).await.is_some());
    outbox.wrote(7);
    put(&outbox, 9, 10);
    assert!(!outbox.is_overfull(), "ten wait");
    outbox.wrote(1);
    put(&outbox, 1, 10);
    assert!(!outbox.is_overfull(), "ten wait again");
    put(&outbox, 1, 10);
    assert!(outbox.is_overfull(), "eleven");
    outbox.closed().await;
    assert!(outbox.take(&mut bytes).await.is_none());
}
