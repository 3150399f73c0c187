/// One step that an event asks for; the steps of an event are done in order, each before the next.
package enum LifeCycleAction: Sendable, Hashable {
    /// From here on the application's state is this one.
    case enter(ApplicationState)
    /// Call the handlers, the delegate, and the observers.
    case deliver(LifeCycleCallback)
    /// Force to the disk what was committed before the handlers run: the user's data is safe from here on.
    case syncJournal
    /// Commit the changes that handlers made, and force them to the disk.
    case commit
    /// Save every store that has changes. It runs whatever became of the handlers.
    case save
    /// Hand the state of the last run back.
    case restore
    /// Save the state for the next launch.
    case saveRestoration
    /// Drop that state: the user left explicitly.
    case dropRestoration
    /// Let background tasks end, or expire.
    case runBackgroundTasks
    /// Stop as SIGTSTP does; returns when continued. Then comes `resume`.
    case stopProcess
    case exit
}
