// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

// Contracts for the tests of EVM chains. token.bin, token.abi, sender.bin and sender.abi are what
// `solcjs --optimize --bin --abi contracts.sol` (solc 0.8.37) makes of it.

// A token of six decimals as ERC-20 has it: whoever makes it has a thousand.
contract Token {
    uint8 public constant decimals = 6;
    uint256 public totalSupply = 1000e6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor() {
        balanceOf[msg.sender] = totalSupply;
        emit Transfer(address(0), msg.sender, totalSupply);
    }

    function transfer(address to, uint256 value) public returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }

    // Several payments in one transaction.
    function batch(address[] calldata to, uint256[] calldata values) external {
        for (uint256 i = 0; i < to.length; i++) {
            transfer(to[i], values[i]);
        }
    }

    // Pays, and then takes everything back by failing.
    function fail(address to, uint256 value) external {
        transfer(to, value);
        revert("after the transfer");
    }

    // Tells of a transfer that did not happen: any amount, past all that there is.
    function claim(address to, uint256 value) external {
        emit Transfer(msg.sender, to, value);
    }
}

// A contract that sends what it is paid on, in each way that there is.
contract Sender {
    // Half to each, from within one call.
    function split(address payable one, address payable two) external payable {
        send(one, msg.value / 2);
        send(two, msg.value - msg.value / 2);
    }

    // Sends to `lost` in a call that fails and is caught, then to `to`.
    function past(address payable lost, address payable to) external payable {
        try this.sendAndFail(lost, msg.value) {} catch {}
        send(to, msg.value);
    }

    // A purse that is made with the money in it and gives all to `to` when it ends, before it was ever a contract.
    function bequeath(address payable to) external payable {
        new Purse{value: msg.value}().end(to);
    }

    // Runs code of another in this contract's name: the money is sent once.
    function delegate(address payable to) external payable {
        Purse purse = new Purse();
        (bool done, ) = address(purse).delegatecall(abi.encodeCall(Purse.pass, (to, msg.value)));
        require(done);
    }

    // Pays and then fails as a whole.
    function fail(address payable to) external payable {
        send(to, msg.value);
        revert("after the payment");
    }

    function sendAndFail(address payable to, uint256 value) external {
        send(to, value);
        revert("caught");
    }

    function send(address payable to, uint256 value) private {
        (bool done, ) = to.call{value: value}("");
        require(done);
    }
}

contract Purse {
    constructor() payable {}

    function end(address payable to) external {
        selfdestruct(to);
    }

    function pass(address payable to, uint256 value) external payable {
        (bool done, ) = to.call{value: value}("");
        require(done);
    }
}
