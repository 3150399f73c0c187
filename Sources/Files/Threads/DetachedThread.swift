import CPlatform

/// A thread that is never joined; the end of the process ends it. Signals are blocked as for ``WorkerThread``.
package enum DetachedThread {
    /// Starts the function on a new thread.
    ///
    /// - Parameter work: the function.
    /// - Returns: false when no thread can be created.
    package static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        let job = Unmanaged.passRetained(ThreadJob(work))
        let result = cubby_thread_start(
            0,
            { argument in
                if let argument { Unmanaged<ThreadJob>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, job.toOpaque(), nil)
        if result != 0 { job.release() }
        return result == 0
    }
}
