use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let pid: u32 = args[1].parse().unwrap();
    let secs: u64 = args[2].parse().unwrap();
    let bytes: u32 = args[3].parse().unwrap();
    let all = args[4] == "all";
    let raw = Path::new(&args[5]);
    std::fs::create_dir_all(raw).unwrap();
    let wish = assay_profile::Wish {
        pids: vec![pid],
        frequency_hz: 499,
        stacks: if bytes == 0 {
            assay_profile::Stacks::FramePointers
        } else {
            assay_profile::Stacks::Copies(bytes)
        },
        may_watch_all: all,
        kernel: true,
    };
    let p = assay_profile::Profiler::start(raw, &wish).unwrap();
    println!("{:?}", p.granted());
    std::thread::sleep(std::time::Duration::from_secs(secs));
    println!("{:?}", p.stop().unwrap());
}
