//! A file that is mounted without its folder, and a file on a file system that another program serves.

use super::root_files::said;
use crate::support::command::run_coffer;
use crate::support::process::Process;
use crate::support::sandbox_file::create_invoices;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{agent, polling, send, tools};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds a command that runs in a mount namespace of its own, after a shell command.
fn in_namespace(before: &str, args: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "--", "sh", "-ec"]);
    command.arg(format!("{before}; exec \"$@\"")).arg("sh").args(args);
    command
}

/// Returns `true` if this machine has mount namespaces.
fn has_namespaces() -> bool {
    let arguments = ["--map-root-user", "--mount", "--", "mount", "--bind", "/tmp", "/tmp"];
    tools::tool_output("unshare", &arguments, "a file that is mounted alone").is_some()
}

/// A file of a shop that was killed, and a folder in which files are mounted.
struct MountedShop {
    scratch: Scratch,
    file: PathBuf,
    mounted: PathBuf,
}

fn mounted_shop() -> MountedShop {
    let scratch = Scratch::new();
    let folder = scratch.path("").canonicalize().unwrap();
    let data = folder.join("a folder, mounted");
    std::fs::create_dir(&data).unwrap();
    let shop =
        MountedShop { file: folder.join("shop.db"), mounted: data.join("coffer.db"), scratch };
    run_coffer(&shop.file, &["account", "create", "Shop"]);
    shop
}

impl MountedShop {
    /// Runs a command with the file mounted under `name` in the other folder.
    fn run(&self, name: &Path, args: &[&str]) -> Output {
        let [file, name] = [&self.file, name].map(path_text);
        let mount = format!("touch '{name}'; mount --bind '{file}' '{name}'");
        let args = [&[env!("CARGO_BIN_EXE_coffer")], args].concat();
        in_namespace(&mount, &args).output().unwrap()
    }
}

#[test]
fn file_mounted_without_its_folder_is_refused() {
    if !has_namespaces() {
        return;
    }
    let shop = mounted_shop();
    let file = path_text(&shop.mounted);
    let folder = shop.mounted.parent().unwrap().display().to_string();
    let link = shop.scratch.path("link.db");
    std::os::unix::fs::symlink(&shop.mounted, &link).unwrap();
    let before = std::fs::read(&shop.file).unwrap();
    let listen = ["--listen", "127.0.0.1:0"];
    for name in [file, path_text(&link)] {
        for args in [
            &["serve", listen[0], listen[1], "--file", name][..],
            &["sandbox", listen[0], listen[1], "--file", name],
            &["account", "create", "Second", "--file", name],
            &["restore", path_text(&shop.file), "--force", "--file", name],
            &["doctor", "--file", name],
        ] {
            let output = shop.run(&shop.mounted, args);
            let said = said(&output);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
            assert!(said.contains(&format!("{file} is mounted without its folder")), "{said}");
            assert!(said.contains(&format!("`-v ./coffer:{folder}`")), "{said}");
        }
    }
    for args in [&["audit", "--file", file][..], &["backup", "--force", "--file", file, "copy.db"]]
    {
        let args: Vec<_> = args
            .iter()
            .map(|arg| match *arg {
                "copy.db" => path_text(&shop.scratch.path("copy.db")).to_owned(),
                arg => arg.to_owned(),
            })
            .collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let output = shop.run(&shop.mounted, &args);
        assert!(output.status.success(), "{args:?}: {}", said(&output));
    }
    assert!(std::fs::read(&shop.file).unwrap() == before);
}

#[test]
fn log_mounted_without_its_folder_is_refused() {
    if !has_namespaces() {
        return;
    }
    let shop = mounted_shop();
    std::fs::copy(&shop.file, &shop.mounted).unwrap();
    for suffix in ["-wal", "-shm"] {
        let log = PathBuf::from(format!("{}{suffix}", shop.mounted.display()));
        let args = ["serve", "--listen", "127.0.0.1:0", "--file", path_text(&shop.mounted)];
        let output = shop.run(&log, &args);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("{} is mounted without", log.display())), "{said}");
        std::fs::remove_file(log).unwrap();
    }
}

#[test]
fn mounted_folder_is_served() {
    if !has_namespaces() {
        return;
    }
    let shop = mounted_shop();
    let folder = shop.file.parent().unwrap();
    let data = shop.mounted.parent().unwrap();
    let other = shop.scratch.path("a folder, mounted/shop.db");
    let mount = format!("mount --bind '{}' '{}'", folder.display(), data.display());
    let binary = env!("CARGO_BIN_EXE_coffer");
    let args = [binary, "serve", "--log", "warn", "--exit-with-parent"];
    let args = [&args[..], &["--listen", "127.0.0.1:0", "--file", path_text(&other)]].concat();
    let mut command = in_namespace(&mount, &args);
    command.env("COFFER_RATES", crate::support::installation::NO_RATES);
    let mut process = Process::start(&mut command);
    let url = process.wait_for_url();
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(process.close_input_and_wait());
}

#[test]
fn file_system_of_another_program_is_a_warning() {
    let untested = "a file system of another program";
    if !Path::new("/dev/fuse").exists() {
        return tools::report_unavailable("/dev/fuse", untested);
    }
    let scratch = Scratch::new();
    let [backing, mountpoint, log] = ["backing", "mounted", "log"].map(|name| scratch.path(name));
    std::fs::create_dir(&backing).unwrap();
    std::fs::create_dir(&mountpoint).unwrap();
    let file = mountpoint.join("shop.db");
    let fuse = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/support/fuse.py");
    let mounted = [fuse, path_text(&backing), path_text(&mountpoint)];
    let mount = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "--", "python3"]).args(mounted).args(args);
        command
    };
    let Some(output) = tools::run_tool(&mut mount(&["true"]), untested) else { return };
    if !output.status.success() {
        return tools::report_unavailable("FUSE in a mount namespace", untested);
    }
    let binary = env!("CARGO_BIN_EXE_coffer");
    let serve = [binary, "sandbox", "--exit-with-parent", "--listen", "127.0.0.1:0", "--file"];
    let mut command = mount(&[&serve[..], &[path_text(&file)]].concat());
    let errors = std::fs::File::create(&log).unwrap();
    let mut process = Process::start_with_stderr(&mut command, errors.into());
    let url = process.wait_for_url();
    create_invoices(&url, 20);
    assert!(process.close_input_and_wait());
    let warned = || std::fs::read_to_string(&log).unwrap().contains("file not on a local disk");
    assert!(polling::wait_until(warned));
    assert!(std::fs::read_to_string(&log).unwrap().contains("(FUSE)"));
    let output = mount(&[binary, "doctor", "--file", path_text(&file)]).output().unwrap();
    assert!(said(&output).contains("(FUSE)"), "{output:?}");
    assert!(said(&output).contains("mend: put the file on a local disk"), "{output:?}");
    let output = mount(&[binary, "audit", "--file", path_text(&file)]).output().unwrap();
    assert!(said(&output).contains("nothing found in 20 invoices"), "{output:?}");
}
