//! Tests of the queue for password hashing. The tests keep the hasher busy with a job that waits.

use super::{Error, HashingQueue, RefusalCode};
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    Ok(runtime.block_on(future))
}

/// Returns a job that reports its start and waits for permission to end. Returns also the receiver of the report and
/// the sender of the permission.
fn blocking_job() -> (impl FnOnce(), Receiver<()>, Sender<()>) {
    let (begun, has_begun) = channel();
    let (end, may_end) = channel::<()>();
    let job = move || {
        let _ = begun.send(());
        let _ = may_end.recv();
    };
    (job, has_begun, end)
}

/// Returns the error code and the `Retry-After` of a refusal, `None` for any other answer.
fn error_code<T>(answer: Option<Result<T, Error>>) -> Option<(RefusalCode, Option<i64>)> {
    match answer {
        Some(Err(Error::Refused(refusal))) => Some((refusal.code, refusal.wait_seconds)),
        _ => None,
    }
}

#[test]
fn queue_takes_one_password_for_each_client() {
    let hashing = HashingQueue::new(2);
    let (job, has_begun, end) = blocking_job();
    let mut first = pin!(hashing.run("a", move |_| job(), || ()));
    assert!(poll(first.as_mut()).is_none());
    assert_eq!(has_begun.recv(), Ok(()));
    let twice = pin!(hashing.run("a", |_| (), || ()));
    assert_eq!(error_code(poll(twice)), Some((RefusalCode::TooManyAttempts, Some(1))));
    let mut others = ["b", "c"].map(|client| Box::pin(hashing.run(client, move |_| client, || ())));
    for other in &mut others {
        assert!(poll(other.as_mut()).is_none());
    }
    let too_many = pin!(hashing.run("d", |_| (), || ()));
    assert_eq!(error_code(poll(too_many)), Some((RefusalCode::Overloaded, None)));
    let _ = end.send(());
    let [b, c] = others;
    let answers = block_on(async { (first.await, b.await, c.await) });
    assert!(matches!(answers, Ok((Ok(()), Ok("b"), Ok("c")))));
    let again = pin!(hashing.run("a", |_| (), || ()));
    assert_eq!(error_code(poll(again)), None, "the first one has been served");
}

#[test]
fn disconnected_client_leaves_the_queue() {
    let hashing = HashingQueue::new(1);
    let (job, has_begun, end) = blocking_job();
    let (unheard, was_unheard) = channel();
    let unheard = move || {
        let _ = unheard.send(());
    };
    let mut first = Box::pin(hashing.run("a", move |_| job(), unheard));
    assert!(poll(first.as_mut()).is_none());
    assert_eq!(has_begun.recv(), Ok(()));
    let (hashed, was_hashed) = channel();
    for client in 0..10_000 {
        let hashed = hashed.clone();
        let client = format!("{client}");
        let mut gone = Box::pin(hashing.run(&client, move |_| hashed.send(()), || ()));
        assert!(poll(gone.as_mut()).is_none(), "there is a place for {client}");
    }
    // The first client disconnects and may enter the queue again, although its running job still uses the hasher.
    drop(first);
    let mut second = Box::pin(hashing.run("a", |_| "last", || ()));
    assert!(poll(second.as_mut()).is_none());
    drop(hashed);
    let _ = end.send(());
    assert!(matches!(block_on(second), Ok(Ok("last"))));
    assert!(was_hashed.recv().is_err(), "nobody waited for these");
    assert_eq!(was_unheard.recv(), Ok(()));
}

#[test]
fn memory_is_freed_when_nobody_waits() {
    let hashing = HashingQueue::new(8);
    let hash = || hashing.run("a", |hasher| hasher.hash("correct horse").is_ok(), || ());
    assert!(matches!(block_on(hash()), Ok(Ok(true))));
    // The thread frees the memory before it releases the lock.
    let has_memory = block_on(async { hashing.hasher.lock().await.has_memory() });
    assert!(matches!(has_memory, Ok(false)));
}
