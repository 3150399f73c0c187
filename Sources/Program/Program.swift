import Application
import CubbyCommand
import Files
import Glibc

/// The executable `cubby`.
@main
enum Program {
    static func main() {
        // Before any other thread exists: the signal thread alone receives the life cycle's signals.
        SignalMask.blockAtLaunch()
        StandardStream.holdClosedDescriptors()
        exit(CommandProgram.run(Array(ProgramArguments.current.dropFirst())))
    }
}
