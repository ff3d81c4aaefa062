//! A mail server for tests (SMTP, RFC 5321), which takes mails and can be told to be busy or to refuse recipients.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A mail that the server has taken, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedMail {
    /// Address of the recipient in the envelope.
    pub to: String,
    /// Header `From`.
    pub from: String,
    /// Header `Reply-To`; empty without one.
    pub reply_to: String,
    /// Header `Message-ID`.
    pub id: String,
    /// Header `Subject`.
    pub subject: String,
    /// The text, with line feeds.
    pub text: String,
}

/// How the server answers.
#[derive(Debug, Default)]
struct Behaviour {
    is_busy: bool,
    is_silent: bool,
    refused: BTreeSet<String>,
}

/// A mail server on a port of its own.
pub struct MailServer {
    /// Its `smtp://` URL.
    pub url: String,
    received: mpsc::UnboundedReceiver<ReceivedMail>,
    behaviour: Arc<Mutex<Behaviour>>,
}

impl MailServer {
    /// Starts a server that takes every mail.
    ///
    /// Errors: when no port is free.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("smtp://{}", listener.local_addr()?);
        let (sender, received) = mpsc::unbounded_channel();
        let behaviour = Arc::new(Mutex::new(Behaviour::default()));
        let shared = Arc::clone(&behaviour);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, sender.clone(), Arc::clone(&shared)));
            }
        });
        Ok(Self { url, received, behaviour })
    }

    /// Answers 451 to every mail from now on, or takes mails again.
    pub fn set_busy(&self, is_busy: bool) {
        self.behaviour.lock().unwrap_or_else(PoisonError::into_inner).is_busy = is_busy;
    }

    /// Takes mails from now on without an answer, or answers again. The sender of a mail without an answer does not learn that it
    /// arrived.
    pub fn set_silent(&self, is_silent: bool) {
        self.behaviour.lock().unwrap_or_else(PoisonError::into_inner).is_silent = is_silent;
    }

    /// Refuses mails to this address from now on, or takes them again.
    pub fn set_refused(&self, address: &str, is_refused: bool) {
        let mut behaviour = self.behaviour.lock().unwrap_or_else(PoisonError::into_inner);
        match is_refused {
            true => behaviour.refused.insert(address.to_owned()),
            false => behaviour.refused.remove(address),
        };
    }

    /// The mails that arrived since the last call.
    pub fn arrived(&mut self) -> Vec<ReceivedMail> {
        std::iter::from_fn(|| self.received.try_recv().ok()).collect()
    }

    /// Waits for the next mail; none when the server has stopped.
    pub async fn next(&mut self) -> Option<ReceivedMail> {
        self.received.recv().await
    }
}

/// One SMTP session.
async fn converse(stream: TcpStream, mails: mpsc::UnboundedSender<ReceivedMail>, behaviour: Arc<Mutex<Behaviour>>) {
    let (read, mut write) = stream.into_split();
    let (mut lines, mut to) = (BufReader::new(read).lines(), String::new());
    if write.write_all(b"220 test\r\n").await.is_err() {
        return;
    }
    while let Ok(Some(line)) = lines.next_line().await {
        let is_busy = behaviour.lock().unwrap_or_else(PoisonError::into_inner).is_busy;
        let answer: &[u8] = match line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "EHLO" => b"250-test\r\n250 8BITMIME\r\n",
            "MAIL" if is_busy => b"451 the mailbox is busy\r\n",
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                let is_refused = behaviour.lock().unwrap_or_else(PoisonError::into_inner).refused.contains(&to);
                if is_refused { b"550 no such user here\r\n" } else { b"250 ok\r\n" }
            }
            "DATA" => {
                if write.write_all(b"354 go on\r\n").await.is_err() {
                    return;
                }
                let mut message = String::new();
                while let Ok(Some(line)) = lines.next_line().await {
                    if line == "." {
                        break;
                    }
                    // Dots at the beginning of a line are doubled.
                    message.push_str(line.strip_prefix('.').unwrap_or(&line));
                    message.push('\n');
                }
                let is_silent = behaviour.lock().unwrap_or_else(PoisonError::into_inner).is_silent;
                let _ = mails.send(decoded(&to, &message));
                if is_silent {
                    // Until the sender gives up or ends.
                    while let Ok(Some(_)) = lines.next_line().await {}
                    return;
                }
                b"250 taken as 4711\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        if write.write_all(answer).await.is_err() {
            return;
        }
    }
}

fn decoded(to: &str, message: &str) -> ReceivedMail {
    let (head, body) = message.split_once("\n\n").unwrap_or((message, ""));
    // A header continues on lines that begin with a blank.
    let head = head.replace("\n ", " ").replace("\n\t", " ");
    let header = |name: &str| {
        let found = head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| decoded_words(value.trim()))
        });
        found.unwrap_or_default()
    };
    let text = match header("Content-Transfer-Encoding").as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => decoded_base64(&body.replace('\n', "")),
        _ => body.to_owned(),
    };
    ReceivedMail {
        to: to.to_owned(),
        from: header("From"),
        reply_to: header("Reply-To"),
        id: header("Message-ID"),
        subject: header("Subject"),
        text: text.replace("\r\n", "\n").trim_end().to_owned(),
    }
}

/// Encoded words of a header (RFC 2047). Blanks between two encoded words do not count.
fn decoded_words(value: &str) -> String {
    let (mut text, mut after_encoded) = (String::new(), false);
    for word in value.split(' ').filter(|word| !word.is_empty()) {
        let parts: Vec<&str> = word.split('?').collect();
        let encoded = match parts[..] {
            ["=", _, "b" | "B", content, "="] => Some(decoded_base64(content)),
            ["=", _, "q" | "Q", content, "="] => Some(quoted_printable(&content.replace('_', " "))),
            _ => None,
        };
        if !(text.is_empty() || after_encoded && encoded.is_some()) {
            text.push(' ');
        }
        after_encoded = encoded.is_some();
        text.push_str(&encoded.unwrap_or_else(|| word.to_owned()));
    }
    text
}

fn decoded_base64(text: &str) -> String {
    String::from_utf8_lossy(&STANDARD.decode(text).unwrap_or_default()).into_owned()
}

fn quoted_printable(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = || u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        match (first, code()) {
            (b'=', Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            (b'=', None) if after.starts_with(b"\n") => rest = &after[1..],
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_decoded() {
        let message = "From: =?utf-8?b?SMO8dHRl?= <a@example.com>\nSubject: =?utf-8?b?w6Q=?=\n =?utf-8?b?w7Y=?= plain\n\
             Content-Transfer-Encoding: quoted-printable\n\nGr=C3=B6=\n=C3=9Fe =3D 1\n.\n";
        let mail = decoded("b@example.com", message);
        assert_eq!((mail.from.as_str(), mail.subject.as_str()), ("Hütte <a@example.com>", "äö plain"));
        assert_eq!((mail.text.as_str(), mail.reply_to.as_str()), ("Größe = 1\n.", ""));
    }
}
