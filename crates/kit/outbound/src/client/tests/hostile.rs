//! Addresses that an attacker may enter to reach the operator's network. None may be accepted as an endpoint or, if
//! only the resolved address shows it, be connected to.

use super::*;
use crate::url::parse_endpoint_url;

/// Rejected before anything is sent, because of their form or their IP address.
const REFUSED_EARLY: &[&str] = &[
    // loopback in various spellings
    "http://127.0.0.1/",
    "http://127.0.0.1:80/",
    "https://127.0.0.1:8443/admin",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.255.255.254/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0X7F.0x0.0X0.0x1/",
    "http://0x7f.1/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://00000177.0.0.1/",
    "http://0x7f.0.1/",
    "http://0177.1/",
    "http://127.0.0.1./",
    "http://2130706433./",
    "http://%31%32%37.0.0.1/",
    "http://127%2E0%2E0%2E1/",
    "http://127。0。0。1/",
    "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://localhost/",
    "http://LOCALHOST:8071/",
    "http://localhost./",
    "http://a.localhost/",
    "http://ⓛocalhost/",
    "http://loc%61lhost/",
    "http://local\u{ad}host/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]:80/",
    "http://[0000::0001]/",
    // IPv4 within IPv6
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[0:0:0:0:0:ffff:7f00:0001]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:0.0.0.0]/",
    "http://[::127.0.0.1]/",
    "http://[::7f00:1]/",
    "http://[::8.8.8.8]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a00:1]/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://[64:ff9b:1::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a00:1::1]/",
    "http://[2002:808:808::1]/",
    "http://[2001::7f00:1]/",
    "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
    "http://[2a00:1450::5efe:10.0.0.1]/",
    "http://[2a00:1450::200:5efe:a00:1]/",
    // names of the local machine and of metadata services, also in other letters
    "http://localhost.localdomain/",
    "http://ip6-localhost:8080/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata/computeMetadata/v1/",
    "http://instance-data/latest/meta-data/",
    "http://ｍｅｔａｄａｔａ.google.internal/",
    "http://metadata。google。internal/",
    "http://xn--/",
    "http://xn--a.example/",
    "http://xn--localhost-.example/",
    // unspecified
    "http://0/",
    "http://0.0.0.0/",
    "http://0.0.0.0:8071/",
    "http://0x0/",
    "http://00/",
    "http://0.1.2.3/",
    "http://[::]/",
    "http://[0::0]:8080/",
    // private, link-local, metadata, carriers
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://167772161/",
    "http://0xa000001/",
    "http://012.0.0.1/",
    "http://10.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://0xac.0x10.1/",
    "http://192.168.0.1/",
    "http://192.168.257/",
    "http://3232235521/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254:80/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0xa9.0xfe.0xa9.0xfe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://169.16689662/",
    "http://169.254.170.2/v2/credentials",
    "http://169.254.0.1/",
    "http://100.100.100.200/latest/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://168.63.129.16/",
    "http://192.0.0.192/opc/v1/",
    "http://[fd00:ec2::254]/latest/",
    "http://[fd20:ce::254]/",
    "http://[fc00::1]/",
    "http://[fdff:ffff::1]/",
    "http://[fe80::1]/",
    "http://[febf::1]/",
    "http://[fec0::1]/",
    // reserved, documentation and multicast
    "http://192.0.2.1/",
    "http://198.51.100.7/",
    "http://203.0.113.9/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://192.88.99.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250:1900/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://4294967295/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[2001:2::1]/",
    "http://[100::1]/",
    "http://[4000::1]/",
    "http://[5f00::1]/",
    // forms that parsers treat differently
    "http://user@127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1@example.com/",
    "http://example.com:80@127.0.0.1:8071/",
    "http://example.com%40127.0.0.1/",
    "http://example.com\\@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http:\\\\127.0.0.1/",
    "http:/127.0.0.1/",
    "http:127.0.0.1/",
    "http:///127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1\t/",
    "http://127.0.0\n.1/",
    "http://127.0.0.1%00.example.com/",
    "http://127.0.0.1%0d%0aHost:example.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:80:81/",
    "http://example.com:-1/",
    "http://[::1%25lo]/",
    "http://[::1]extra/",
    "http://[::1",
    "http://::1/",
    "http://[]/",
    "http://[127.0.0.1]/",
    "http://[v1.a]/",
    "http://256.256.256.256/",
    "http://127.0.0.0.1/",
    "http://0x7f.0.0.0x100/",
    // other schemes
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "ftp://127.0.0.1/",
    "dict://127.0.0.1:11211/",
    "unix:/var/run/docker.sock",
    "data:text/plain,a",
    "jar:http://127.0.0.1!/",
    "//127.0.0.1/",
    "127.0.0.1",
    "http",
    "http://",
];

#[test]
fn no_hostile_address_becomes_an_endpoint() {
    let policy = AddressPolicy::public_only(vec![]);
    assert!(REFUSED_EARLY.len() >= 100);
    for text in REFUSED_EARLY {
        if let Ok(url) = parse_endpoint_url(text) {
            assert!(policy.check_literal(&url).is_err(), "{text} is taken for {}", url.as_str());
        }
    }
}

#[test]
fn ordinary_addresses_become_endpoints() {
    let policy = AddressPolicy::public_only(vec![]);
    for text in [
        "https://example.com/",
        "https://hooks.example.com:8443/a/b?c=d",
        "http://8.8.8.8/",
        "http://[2606:4700::1111]/",
        "https://localhost.example.com/",
        "https://10.example.com/",
        "https://example.com/http://127.0.0.1/",
        // The fragment is not sent, and the host is what stands before it.
        "http://example.com#@127.0.0.1/",
        "https://example.com/?to=http://user@127.0.0.1/",
    ] {
        policy.check_literal(&parse_endpoint_url(text).unwrap()).unwrap();
    }
}

/// The client also checks a URI that was not validated as an endpoint URL.
#[tokio::test]
async fn no_hostile_uri_is_connected_to() {
    let client = client(AddressPolicy::public_only(vec![]));
    let mut sent = 0;
    for text in REFUSED_EARLY {
        let (Ok(to), Ok(endpoint)) = (text.parse::<Destination>(), parse_endpoint_url(text)) else {
            continue;
        };
        // Any other host could be a name, and resolving it would need a network.
        let numeric = |c: char| c.is_ascii_hexdigit() || matches!(c, '.' | 'x' | 'X' | ':' | '[' | ']');
        let host = to.uri().host().unwrap_or_default();
        if endpoint.literal_address().is_none() || !host.chars().all(numeric) || host.ends_with('.') {
            continue;
        }
        let error = client.send(get(text)).await.unwrap_err();
        assert_eq!(error.code(), "refused_address", "{text}: {error}");
        sent += 1;
    }
    assert!(sent >= 80, "{sent}");
}
