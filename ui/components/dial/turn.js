const View = Dial;
