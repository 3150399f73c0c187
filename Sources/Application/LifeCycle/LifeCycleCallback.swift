/// A callback of the life cycle; the raw value is the event's name for scripts.
package enum LifeCycleCallback: String, Sendable, Hashable, CaseIterable {
    case willFinishLaunching
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    /// Continued without the terminal (SIGCONT after `bg`). Cocoa would say `didEnterBackground` again.
    case didResumeInBackground
    case willTerminate
    case didReceiveMemoryWarning

    /// The method of Cocoa's application delegate, `applicationDidEnterBackground`.
    package var applicationSelector: String { "application" + capitalized }

    /// The method of Cocoa's scene delegate; nil for callbacks that scenes do not have.
    package var sceneSelector: String? {
        switch self {
        case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: "scene" + capitalized
        default: nil
        }
    }

    /// Cocoa's notification of this moment; nil where it has none.
    package var notificationName: String? {
        switch self {
        case .willFinishLaunching, .didResumeInBackground: nil
        default: "UIApplication\(capitalized)Notification"
        }
    }

    /// The delegate's methods as Swift's `#function` prints them, the application's before the scene's.
    ///
    /// - Parameter isLaunch: at launch only scenes enter the foreground, not the application.
    /// - Returns: their names.
    package func functionNames(isLaunch: Bool = false) -> [String] {
        switch self {
        case .willFinishLaunching, .didFinishLaunching: ["application(_:\(rawValue)WithOptions:)"]
        case .didBecomeActive where isLaunch:
            ["sceneWillEnterForeground(_:)", "\(applicationSelector)(_:)", "sceneDidBecomeActive(_:)"]
        default: [applicationSelector, sceneSelector].compactMap { $0.map { $0 + "(_:)" } }
        }
    }

    private var capitalized: String { rawValue.prefix(1).uppercased() + String(rawValue.dropFirst()) }
}
