//! Metrics by HTTP, for Prometheus.

use std::net::SocketAddr;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
pub use server::serve;

/// Parses the address of the metrics: the loopback if there is a port only.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    port.or_else(|_| text.parse()).map_err(|_| {
        "expected a port or an address and a port, such as 9470, 192.0.2.1:9470, [::1]:9470"
            .to_owned()
    })
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod server {
    use std::io::{self, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::thread;
    use std::time::{Duration, Instant};

    use longmatch_cli::error::CliError;

    /// Serves a page at `/metrics` of an address, in a separate thread; `None` for a page that cannot be had now.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn serve(
        address: SocketAddr,
        page: impl Fn() -> Option<String> + Send + 'static,
    ) -> Result<(), CliError> {
        const PAUSE: Duration = Duration::from_millis(50);
        let failed = |error: io::Error| CliError::input(format!("--metrics {address}"), error);
        let listener = TcpListener::bind(address).map_err(failed)?;
        let work = move || {
            for stream in listener.incoming() {
                match stream {
                    // The client may have gone already.
                    Ok(stream) => drop(answer(stream, &page)),
                    // Such as too many open files.
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        };
        thread::Builder::new().name("metrics".to_owned()).spawn(work).map_err(failed)?;
        Ok(())
    }

    /// The longest time for a request, and for its answer: a client that is slower would keep others from being served.
    const PATIENCE: Duration = Duration::from_secs(1);

    /// Answers one request.
    fn answer(mut stream: TcpStream, page: impl Fn() -> Option<String>) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let (status, body) = match path(&mut stream)?.as_deref() {
            Some("/metrics") => match page() {
                Some(text) => ("200 OK", text),
                None => ("503 Service Unavailable", "the counts cannot be had now\n".to_owned()),
            },
            Some(_) => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
            None => ("400 Bad Request", "this is no GET request of HTTP\n".to_owned()),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
            body.len()
        )?;
        stream.flush()
    }

    /// The path of a GET request; `None` if it is another request or none at all.
    fn path(stream: &mut TcpStream) -> io::Result<Option<String>> {
        const LONGEST: usize = 8192;
        let (mut bytes, mut buffer) = (Vec::new(), [0; 1024]);
        let end = Instant::now() + PATIENCE;
        while bytes.len() < LONGEST && Instant::now() < end {
            let mut headers = [httparse::EMPTY_HEADER; 64];
            let mut request = httparse::Request::new(&mut headers);
            match request.parse(&bytes) {
                Ok(httparse::Status::Partial) => {}
                Ok(httparse::Status::Complete(_)) if request.method == Some("GET") => {
                    let path = request.path.unwrap_or_default();
                    return Ok(Some(path.split('?').next().unwrap_or_default().to_owned()));
                }
                _ => return Ok(None),
            }
            match stream.read(&mut buffer)? {
                0 => return Ok(None),
                len => bytes.extend_from_slice(&buffer[..len]),
            }
        }
        Ok(None)
    }
}
