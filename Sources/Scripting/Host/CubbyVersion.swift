/// The version of the library and of the command, by https://semver.org; CHANGELOG.md says what came with it.
public enum CubbyVersion {
    public static let string = "0.9.0"
}
