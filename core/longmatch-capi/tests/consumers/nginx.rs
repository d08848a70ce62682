//! nginx with the module.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use longmatch::table::Cell;

use super::tools::{Dir, compiler, has, skipped, source, succeed};
use super::{Random, cells, data, installed, pkg_config, table};

const HEADERS: &str = "/usr/share/nginx/src";

/// Builds the module as users do; `None` where packages are missing.
fn module(dir: &Dir, test: &str) -> Option<PathBuf> {
    compiler("cc", test)?;
    let packages = "nginx nginx-dev make pkg-config";
    for (there, tool) in [
        (Command::new("nginx").arg("-v").output().is_ok(), "nginx"),
        (Path::new(HEADERS).join("configure").exists(), "headers of nginx"),
        (has("make"), "make"),
        (has("pkg-config"), "pkg-config"),
    ] {
        if !there {
            skipped(test, tool, packages);
            return None;
        }
    }
    let prefix = installed(dir);
    let build = dir.path("nginx-src");
    succeed(Command::new("cp").arg("-r").arg(HEADERS).arg(&build));
    let found = pkg_config(&prefix);
    let path =
        found.get_envs().find_map(|(name, value)| (name == "PKG_CONFIG_PATH").then_some(value?));
    let mut configure = Command::new("./configure");
    configure.arg("--with-compat");
    configure.arg(format!("--add-dynamic-module={}", source("consumers/nginx").display()));
    succeed(configure.current_dir(&build).env("PKG_CONFIG_PATH", path?));
    succeed(
        Command::new("make").args(["-s", "-f", "objs/Makefile", "modules"]).current_dir(&build),
    );
    Some(build.join("objs/ngx_http_longmatch_module.so"))
}

/// A configuration: directives in `http`, and the answer to each request.
fn configure(dir: &Dir, module: &Path, port: u16, directives: &str, answer: &str) -> PathBuf {
    let path = dir.path("nginx.conf");
    let text = format!(
        "load_module {};\npid nginx.pid;\nerror_log error.log;\nworker_processes 2;\ndaemon off;\nuser root;\n\
         events {{}}\nhttp {{\naccess_log off;\n{directives}\nclient_body_temp_path body; proxy_temp_path proxy;\n\
         fastcgi_temp_path fastcgi; scgi_temp_path scgi; uwsgi_temp_path uwsgi;\n\
         server {{ listen 127.0.0.1:{port}; set_real_ip_from 127.0.0.1; real_ip_header X-Client;\n\
         location / {{ return 200 '{answer}'; }} }}\n}}\n",
        module.display()
    );
    fs::write(&path, text).unwrap();
    path
}

fn nginx(dir: &Dir) -> Command {
    let mut command = Command::new("nginx");
    command.arg("-p").arg(dir.path("")).arg("-e").arg("error.log").arg("-c").arg("nginx.conf");
    command
}

/// A running nginx, which ends with the value.
struct Server(Child);

impl Server {
    fn start(dir: &Dir, port: u16) -> Self {
        let mut child = nginx(dir).stdin(Stdio::null()).spawn().unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = child.try_wait().unwrap();
            let log = || fs::read_to_string(dir.path("error.log")).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < end, "nginx does not start: {}", log());
            thread::sleep(Duration::from_millis(20));
        }
        Self(child)
    }

    fn signal(&self, name: &str) {
        succeed(Command::new("kill").arg(name).arg(self.0.id().to_string()));
    }

    /// Its worker processes that take new connections.
    fn workers(&self) -> usize {
        self.children("nginx: worker process\0")
    }

    fn children(&self, title: &str) -> usize {
        let id = self.0.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let titled = |child: &&str| {
            fs::read_to_string(format!("/proc/{child}/cmdline"))
                .is_ok_and(|it| format!("{it}\0").starts_with(title))
        };
        children.split_whitespace().filter(titled).count()
    }

    /// The mappings of files with this name in the master process.
    fn mappings(&self, name: &str) -> usize {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.0.id())).unwrap();
        maps.lines().filter(|line| line.contains(name)).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Workers end with the master, which `Child::kill` would end without them.
        let _ = Command::new("kill").arg("-TERM").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// The body of the answer to a client with an address, by a connection of its own or a kept one.
fn ask(stream: &mut TcpStream, client: &str, text: &str, keep: bool) -> String {
    let connection = if keep { "keep-alive" } else { "close" };
    let request = format!(
        "GET / HTTP/1.1\r\nHost: test\r\nX-Client: {client}\r\nX-Text: {text}\r\nConnection: {connection}\r\n\r\n"
    );
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let read = stream.read(&mut part).unwrap();
        answer.extend_from_slice(&part[..read]);
        let whole = String::from_utf8_lossy(&answer);
        if let Some((head, body)) = whole.split_once("\r\n\r\n") {
            assert!(head.starts_with("HTTP/1.1 200"), "{head}");
            let length =
                head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
            if body.len() == length.parse::<usize>().unwrap() {
                return body.to_owned();
            }
        }
        assert!(read > 0, "an answer ends early: {whole}");
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn nginx_answers_and_reloads() {
    let dir = Dir::new("nginx");
    let Some(module) = module(&dir, "nginx") else { return };
    let (data, other) = (data(""), data("other "));
    table(&data, dir.path("table.lm"));
    let port = free_port();
    let columns = ["site", "asn", "balance", "latitude"];
    let mut directives = String::new();
    for column in columns {
        directives += &format!("longmatch table.lm ${column} column={column} default=;\n");
    }
    directives += "longmatch table.lm $http_x_text $text column=site default=none;\n";
    configure(&dir, &module, port, &directives, "$site|$asn|$balance|$latitude;$text");
    let server = Server::start(&dir, port);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut random = Random(17);
    let mut found = 0;
    // A connection is kept for 1,000 requests by default.
    for i in 0..5000 {
        if i % 500 == 0 {
            stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        }
        let (client, text) = (random.address(), random.address());
        let expected = cells(&data, client);
        found += usize::from(expected.is_some());
        // An empty text is a value; the default is for no route and no value.
        let site = data.table().lookup(text).map_or(&Cell::Null, |row| &row[0]);
        let site = if *site == Cell::Null { "none".into() } else { site.to_string() };
        let expected = format!("{};{site}", expected.unwrap_or("|||".into()));
        let client = match client {
            // A dual-stack socket has clients of IPv4 so.
            IpAddr::V4(client) if i % 3 == 0 => client.to_ipv6_mapped().to_string(),
            client => client.to_string(),
        };
        assert_eq!(
            ask(&mut stream, &client, &text.to_string(), true),
            expected,
            "{client}, {text}"
        );
    }
    assert!(found > 1000 && found < 5000);
    for text in ["", "10.1.2", "10.1.2.3, 10.1.2.3", "fe80::1%1", &"1".repeat(99)] {
        let answer =
            ask(&mut TcpStream::connect(("127.0.0.1", port)).unwrap(), "10.1.2.3", text, false);
        assert_eq!(answer, "office|64500|-5|1.5;none", "{text}");
    }
    reload(&dir, &server, port, &[table(&data, dir.path("a.lm")), table(&other, dir.path("b.lm"))]);
}

/// Reloads under requests: each answer is wholly that of one table.
fn reload(dir: &Dir, server: &Server, port: u16, files: &[PathBuf; 2]) {
    let answers = ["office|64500|-5|1.5;office", "other office|64500|-5|1.5;other office"];
    let mappings = server.mappings("table.lm");
    assert!(mappings > 0);
    let ended = AtomicBool::new(false);
    let fresh = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    thread::scope(|scope| {
        let clients = [(); 3].map(|()| {
            scope.spawn(|| {
                let mut counts = [0; 2];
                while !ended.load(Ordering::Relaxed) {
                    let answer = ask(&mut fresh(), "10.1.2.3", "10.1.2.3", false);
                    let which = answers.iter().position(|it| *it == answer);
                    counts[which.unwrap_or_else(|| panic!("mixed: {answer}"))] += 1;
                }
                counts
            })
        });
        for round in 1..=10 {
            let which = round % 2;
            let copy = dir.path("copy.lm");
            fs::copy(&files[which], &copy).unwrap();
            fs::rename(copy, dir.path("table.lm")).unwrap();
            server.signal("-HUP");
            let end = Instant::now() + Duration::from_secs(60);
            while ask(&mut fresh(), "10.1.2.3", "10.1.2.3", false) != answers[which]
                || server.workers() != 2
            {
                assert!(Instant::now() < end, "reload {round} has no effect");
                thread::sleep(Duration::from_millis(10));
            }
        }
        ended.store(true, Ordering::Relaxed);
        for client in clients {
            let counts = client.join().unwrap();
            assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
        }
    });
    // The master closed each old table.
    assert_eq!(server.mappings("table.lm"), mappings);
}

#[test]
fn nginx_refuses_wrong_configurations() {
    let dir = Dir::new("nginx-errors");
    let Some(module) = module(&dir, "nginx errors") else { return };
    table(&data(""), dir.path("table.lm"));
    fs::write(dir.path("text.lm"), "10.0.0.0/8 1\n").unwrap();
    let test = |directives: &str| -> Output {
        configure(&dir, &module, 1, directives, "");
        nginx(&dir).arg("-t").output().unwrap()
    };
    assert!(test("longmatch table.lm $site column=site;").status.success());
    let columns = "the columns site, asn, balance, latitude: choose one by column=NAME";
    let full = |name: &str| dir.path(name).display().to_string();
    for (directive, expected) in [
        ("none.lm $site column=site", full("none.lm")),
        ("text.lm $site column=site", full("text.lm")),
        ("table.lm $site", format!("\"table.lm\" has not one column, but {columns}")),
        ("table.lm $site column=city", format!("\"table.lm\" has no column city, but {columns}")),
        ("table.lm site", "\"site\" is not expected".into()),
        ("table.lm $a $b $c", "\"$c\" is not expected".into()),
        ("table.lm column=site", "has no variable".into()),
    ] {
        let output = test(&format!("longmatch {directive};"));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && message.contains(&expected), "{directive}: {message}");
        assert!(message.contains("nginx.conf:"), "{message}");
    }
}
