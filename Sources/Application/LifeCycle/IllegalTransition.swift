/// An event that is illegal in the current state.
package struct IllegalTransition: Error, Sendable, Hashable, CustomStringConvertible {
    package var state: ApplicationState
    package var event: ApplicationEvent

    /// - Parameters:
    ///   - state: the application's state, which is unchanged.
    ///   - event: the illegal event.
    package init(state: ApplicationState, event: ApplicationEvent) {
        self.state = state
        self.event = event
    }

    package var message: String {
        let reason =
            switch (event, state) {
            case (_, .notRunning): "the application is not running"
            case (.launch, _): "the application is running already"
            case (_, .suspended): "the application is suspended and executes nothing until it is resumed"
            case (.pressHome, _): "the application is in the background already"
            case (.interrupt, .background), (.lock, .background): "the application is in the background"
            case (.interrupt, _): "an interruption is under way already"
            case (.endInterruption, _): "no interruption is under way"
            case (.lock, _): "the device is locked already"
            case (.unlock, _): "the device is not locked"
            default: "the application is \(state.rawValue)"
            }
        return "\(event.name) is not possible: \(reason)"
    }

    package var description: String { message }
}
