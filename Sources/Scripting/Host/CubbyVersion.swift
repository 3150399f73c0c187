/// The semantic version (https://semver.org) of the library and of the command; see CHANGELOG.md.
public enum CubbyVersion {
    /// The version, as `cubby --version` prints it.
    public static let string = "2.0.0"
}
