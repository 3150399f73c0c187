import CPlatform

/// Whether the current thread's work is interrupted, by a deadline or a person.
///
/// Code whose time is proportional to its input checks this every few thousand steps, or once per megabyte, and fails
/// with its own error. The host that runs scripts registers the check (`cubby_watch_work`) and ends the script even if
/// that error is handled. Threads without a registered check are never interrupted.
package enum Interruption {
    /// Takes a few nanoseconds without a registered check, some tens with one.
    package static var isDue: Bool { cubby_work_is_stopped() != 0 }

    /// Counts a step of work in small parts, such as loops within loops. Whether the work is interrupted is looked at in
    /// each 1,024th step of the thread; after an interruption each step is true, so that all loops end.
    package static var isDueAtStep: Bool { cubby_work_is_stopped_at_step() != 0 }

    /// The message of an error after an interruption.
    package static let message = "stopped before its end"
}
