/// One step of an event's transition; the steps are done in order.
package enum LifeCycleAction: Sendable, Hashable {
    /// Changes the application's state.
    case enter(ApplicationState)
    /// Calls the handlers, the delegate, and the observers.
    case deliver(LifeCycleCallback)
    /// Syncs the journal before the handlers run: the committed data is safe from then on.
    case syncJournal
    /// Commits the handlers' changes and syncs them.
    case commit
    /// Saves every store with changes, regardless of the handlers' outcome.
    case save
    /// Restores the state of the last run.
    case restore
    /// Saves the state for the next launch.
    case saveRestoration
    /// Drops that state: the user exited explicitly.
    case dropRestoration
    /// Waits for background tasks to end or expire.
    case runBackgroundTasks
    /// Stops as SIGTSTP does, and returns when continued. `resume` follows.
    case stopProcess
    case exit
}
