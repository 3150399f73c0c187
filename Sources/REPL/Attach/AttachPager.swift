import Application

/// The pager of a table at an attached prompt. It runs in the host, which has the rows: keys come in, drawings go out.
/// A page of a million rows costs the same as at the host's own prompt.
final class AttachPager {
    private static let interruptKey: [UInt8] = [0x03]
    /// Seconds after which a single escape is a key.
    private static let patience = 0.04

    private let screen: PagerScreen
    private let loop: EventLoop
    private let draw: ([UInt8]) -> Void
    private let onEnd: (_ typedAhead: [UInt8]) -> Void
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - screen: the pager.
    ///   - loop: the thread's loop.
    ///   - draw: writes to the prompt's terminal.
    ///   - onEnd: called when the pager is closed, with input for the next entry.
    init(
        _ screen: PagerScreen, loop: EventLoop, draw: @escaping ([UInt8]) -> Void,
        onEnd: @escaping (_ typedAhead: [UInt8]) -> Void
    ) {
        self.screen = screen
        self.loop = loop
        self.draw = draw
        self.onEnd = onEnd
        draw(screen.show())
    }

    deinit { timer?.cancel() }

    /// Takes input; without bytes, draws the whole screen.
    func take(_ bytes: [UInt8]) {
        timer?.cancel()
        if bytes.isEmpty {
            _ = screen.hide()
            return draw(screen.show())
        }
        if bytes == Self.interruptKey {
            guard screen.stopSearch() else { return end() }
            return perform(.none)
        }
        if screen.isEntry(bytes) { return end(bytes) }
        perform(screen.feed(bytes))
    }

    func resize(columns: Int, rows: Int) { draw(screen.resize(columns: columns, rows: rows)) }

    private func perform(_ effect: Pager.Effect) {
        switch effect {
        case .leave: return end()
        // The prompt suspends itself.
        case .suspend: break
        case .none: draw(screen.draw())
        }
        schedule()
    }

    private func schedule() {
        if screen.isSearching {
            timer = loop.after(0) { [weak self] in
                guard let self else { return }
                draw(screen.searchOn())
                schedule()
            }
        } else if screen.isWaiting {
            timer = loop.after(Self.patience) { [weak self] in
                guard let self else { return }
                perform(screen.flush())
            }
        }
    }

    private func end(_ typedAhead: [UInt8] = []) {
        timer?.cancel()
        draw(screen.hide())
        onEnd(typedAhead)
    }
}
