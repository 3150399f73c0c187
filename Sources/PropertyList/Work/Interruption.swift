import CPlatform

/// Whether the work that this thread does for somebody has to stop: its time is up, or a person asked.
///
/// What takes time in proportion to its input asks every few thousand steps, or once a megabyte, and gives up with an error
/// of its own. Whoever runs scripts says who is asked (`cubby_watch_work`), and ends the script, whatever becomes of that
/// error. On a thread where nobody said so, nothing has to stop.
package enum Interruption {
    /// Asks. A few nanoseconds where nobody is asked, some tens where somebody is.
    package static var isDue: Bool { cubby_work_is_stopped() != 0 }

    /// What an error says of work that was given up.
    package static let message = "stopped before its end"
}
