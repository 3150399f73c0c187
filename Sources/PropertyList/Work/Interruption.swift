import CPlatform

/// Whether the current thread's work is interrupted, by a deadline or a person.
///
/// Code whose time is proportional to its input checks this every few thousand steps, or once per megabyte, and fails
/// with its own error. The host that runs scripts registers the check (`cubby_watch_work`) and ends the script even if
/// that error is handled. Threads without a registered check are never interrupted.
package enum Interruption {
    /// Takes a few nanoseconds without a registered check, some tens with one.
    package static var isDue: Bool { cubby_work_is_stopped() != 0 }

    /// The message of an error after an interruption.
    package static let message = "stopped before its end"
}
