//! Mails with codes to addresses that do not belong to the sender: large numbers of them, and a message in a name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::browser::{Browser, portal_visitor};
use crate::raw::serve;
use crate::support::{Account, Running};

/// Applications of the attacker's account, and the mails that each requests.
const APPLICATIONS: usize = 10;
const MAILS_OF_EACH: usize = 20;
/// Mails that an account may send in a day, and how many of them to one mailbox.
const OF_ACCOUNT: usize = 50;
const TO_MAILBOX: usize = 5;

/// One SMTP session (RFC 5321) that accepts every mail.
async fn take_mails(stream: TcpStream, mails: mpsc::UnboundedSender<String>) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let _ = write.write_all(b"220 test\r\n").await;
    while let Ok(Some(line)) = lines.next_line().await {
        let answer: &[u8] = match line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase().as_str() {
            "EHLO" => b"250-test\r\n250 8BITMIME\r\n",
            "DATA" => {
                let _ = write.write_all(b"354 go on\r\n").await;
                let mut mail = String::new();
                while let Ok(Some(line)) = lines.next_line().await {
                    if line == "." {
                        break;
                    }
                    match line.strip_suffix('=') {
                        Some(part) => mail.push_str(part),
                        None => mail.extend([&*line, "\n"]),
                    }
                }
                let _ = mails.send(mail);
                b"250 taken\r\n"
            }
            "QUIT" => b"221 bye\r\n",
            _ => b"250 ok\r\n",
        };
        if write.write_all(answer).await.is_err() {
            return;
        }
    }
}

/// Requests a mail to each address. Returns the number of accepted requests.
async fn granted(visitor: &mut Browser, addresses: impl Iterator<Item = String>) -> usize {
    let mut granted = 0;
    for address in addresses {
        let page = visitor.post("/alerts", &[("do", "add"), ("address", &address)]).await;
        assert!(matches!(page.status, 303 | 429 | 422), "{}: {}", page.status, page.body);
        granted += usize::from(page.status == 303);
    }
    granted
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_can_not_flood_a_mailbox_or_choose_the_text_of_a_mail() {
    let (sender, mut mails) = mpsc::unbounded_channel();
    let sessions = Arc::new(AtomicUsize::new(0));
    let server = serve(move |stream, _| {
        sessions.fetch_add(1, Ordering::SeqCst);
        take_mails(stream, sender.clone())
    })
    .await;
    let settings = [("MAIL__SMTP_URL", &*format!("smtp://{server}")), ("MAIL__FROM", "alerts@example.org")];
    let mut running = Running::new(&settings).await;
    let account = Account::new(&running, "attacker").await;
    let name = "Pay at https://evil.example/pay or www.evil.example, today, or lose the account";
    let mut applications = Vec::new();
    for _ in 0..APPLICATIONS {
        let application = account.api.make("post", "/api/v1/app", &account.key, &json!({ "name": name })).await;
        applications.push(application.text("id"));
    }

    // The same mailbox, under many addresses, from all applications, before and after a restart.
    let mut to_mailbox = 0;
    for (number, application) in applications.iter().enumerate() {
        if number == APPLICATIONS / 2 {
            running = running.restarted(&[]).await;
        }
        let mut visitor = portal_visitor(&running, &account, application).await;
        let addresses = (0..6).map(|tag| match tag % 3 {
            0 => "victim@example.com".to_owned(),
            1 => format!("Vic.tim+{number}{tag}@example.com"),
            _ => "VICTIM@EXAMPLE.COM".to_owned(),
        });
        to_mailbox += granted(&mut visitor, addresses).await;
    }
    assert_eq!(to_mailbox, TO_MAILBOX, "mails to one mailbox");

    // Many mailboxes.
    let mut sent = to_mailbox;
    for (number, application) in applications.iter().enumerate() {
        let mut visitor = portal_visitor(&running, &account, application).await;
        let addresses = (0..MAILS_OF_EACH).map(|other| format!("other-{number}-{other}@example.com"));
        sent += granted(&mut visitor, addresses).await;
    }
    assert_eq!(sent, OF_ACCOUNT, "mails of one account");

    for _ in 0..sent {
        let mail = tokio::time::timeout(crate::support::WAIT_MAX, mails.recv()).await.unwrap().unwrap();
        assert!(mail.contains("Pay at https evil example pay or www") && !mail.contains("evil.example"), "{mail}");
    }
    println!("code_mails: {sent} of {} mails sent, {to_mailbox} to one mailbox", APPLICATIONS * (MAILS_OF_EACH + 6));
}
