/// The name of this process.
public enum ProcessName {
    /// The last component of the executable's path, `cubby`.
    public static var current: String {
        let name = PathText.name(of: ProgramArguments.current.first ?? "")
        return name.isEmpty ? "cubby" : name
    }
}
