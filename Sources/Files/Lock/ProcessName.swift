/// What this process is called.
public enum ProcessName {
    /// The last component of the executable's path as it was started, `cubby`.
    public static var current: String {
        let name = PathText.name(of: ProgramArguments.current.first ?? "")
        return name.isEmpty ? "cubby" : name
    }
}
