//! The systemd service files are valid.

use super::{deploy_example_path, example_with_changes};
use crate::support::scratch::Scratch;
use crate::support::tools;
use std::process::Command;

#[test]
fn systemd_accepts_every_service() {
    let scratch = Scratch::new();
    let entries = std::fs::read_dir(deploy_example_path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no", "--recursive-errors=no"]);
    let mut count = 0;
    for name in names.filter(|name| name.ends_with(".service")) {
        let text = example_with_changes(&name, &[]);
        // The program of the service has to exist on this machine, so the test names an existing one.
        let program = text.lines().find(|line| line.starts_with("ExecStart="));
        let program = program.unwrap().split(' ').next().unwrap();
        std::fs::write(scratch.path(&name), text.replace(program, "ExecStart=/bin/true")).unwrap();
        command.arg(scratch.path(&name));
        count += 1;
    }
    assert_eq!(count, 4);
    let beside = scratch.path("coffer.service.d");
    std::fs::create_dir(&beside).unwrap();
    std::fs::copy(deploy_example_path("litestream.conf"), beside.join("litestream.conf")).unwrap();
    let Some(output) = tools::run_tool(&mut command, "whether systemd understands the services")
    else {
        return;
    };
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
}
